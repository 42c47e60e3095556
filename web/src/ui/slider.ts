/** A slider with its name and its value. */
import { clamp, h } from "./dom";

export function slider(label: string, range: [number, number], changed: (value: number) => void): { element: HTMLElement; show: (value: number) => void } {
  const [low, high] = range;
  const step = (high - low) / 500;
  const shown = h("output", { class: "value" });
  let printed = NaN;
  const print = (value: number): void => {
    printed = value;
    shown.textContent = value.toFixed(Math.abs(high - low) > 20 ? 1 : 2);
    input.style.setProperty("--fill", `${clamp((100 * (value - low)) / (high - low || 1), 0, 100)}%`);
  };
  const input = h("input", {
    type: "range", min: String(low), max: String(high), step: String(step), "aria-label": label,
    oninput: () => {
      print(Number(input.value));
      changed(Number(input.value));
    },
  });
  return {
    element: h("label", { class: "slider" }, h("span", { class: "slider-name", title: label }, label), shown, input),
    show: (value) => {
      if (input.matches(":active") || value === printed) return;
      input.value = String(value);
      print(value);
    },
  };
}
