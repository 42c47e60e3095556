/** Small helpers to build the page's elements. */

import { inLine } from "./names";

type Child = Node | string | null | undefined | false;
type Props = Record<string, unknown>;

function inLines(children: Child[]): (Node | string)[] {
  return children.filter((child): child is Node | string => Boolean(child)).map((child) => (typeof child === "string" ? inLine(child) : child));
}

/** An element with properties, attributes (`aria-*`, `data-*`, `role`) and listeners (`onclick`), and its children. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, props);
  element.append(...inLines(children));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

export function s<K extends keyof SVGElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith("on")) (element as unknown as Props)[key] = value;
    else if (value !== undefined && value !== null) element.setAttribute(key, String(value));
  }
  element.append(...inLines(children));
  return element;
}

function apply(element: HTMLElement, props: Props): void {
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") element.className = String(value);
    else if (key.includes("-") || key === "role" || key === "for") element.setAttribute(key, value === true ? "" : String(value));
    else (element as unknown as Props)[key] = value;
  }
}

const ICONS: Record<string, string> = {
  play: "M7 4.5v15l12-7.5z",
  pause: "M7 4.5h3.6v15H7zM13.4 4.5H17v15h-3.6z",
  previous: "M6 5h2v14H6zM20 5v14L9.5 12z",
  next: "M16 5h2v14h-2zM4 5l10.5 7L4 19z",
  loop: "M17 3.5l4 4-4 4v-3H8a3.5 3.5 0 0 0-3.4 4.4l-1.9.5A5.5 5.5 0 0 1 8 6.5h9zM7 20.5l-4-4 4-4v3h9a3.5 3.5 0 0 0 3.4-4.4l1.9-.5A5.5 5.5 0 0 1 16 17.5H7z",
  camera: "M9 5l-1.5 2H4v12h16V7h-3.500L15 5zM12 9a4 4 0 1 1 0 8 4 4 0 0 1 0-8z",
  record: "M12 5a7 7 0 1 1 0 14 7 7 0 0 1 0-14z",
  export: "M12 3l5 5h-3.500v7h-3V8H7zM4 17h2v2h12v-2h2v4H4z",
  open: "M3 5h7l2 2h9v3H3zM3 11h18l-2 9H5z",
  code: "M8.500 6.500L3 12l5.500 5.500 1.600-1.600L6.200 12l3.900-3.900zM15.500 6.500l-1.600 1.600 3.900 3.900-3.900 3.900 1.600 1.600L21 12z",
  theme: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18v-2a7 7 0 0 0 0-14z",
  help: "M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zm0 2a7 7 0 1 0 0 14 7 7 0 0 0 0-14zm-1 10.500h2v2h-2zM12 6.800c1.900 0 3.300 1.200 3.300 2.900 0 2.300-2.300 2.500-2.300 4.300h-2c0-2.800 2.200-2.900 2.200-4.300 0-.6-.5-1-1.200-1s-1.300.5-1.300 1.300H8.700c0-1.900 1.400-3.200 3.300-3.200z",
  frame: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4zM12 9a3 3 0 1 1 0 6 3 3 0 0 1 0-6z",
  left: "M3 5h18v14H3zm2 2v10h4V7z",
  right: "M3 5h18v14H3zm12 2v10h4V7z",
  close: "M6.400 5L12 10.600 17.600 5 19 6.400 13.400 12l5.600 5.600-1.400 1.400-5.600-5.600L6.400 19 5 17.600 10.600 12 5 6.400z",
  search: "M10.500 4a6.500 6.500 0 0 1 5.200 10.400l4.300 4.300-1.300 1.300-4.300-4.300A6.500 6.500 0 1 1 10.500 4zm0 2a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9z",
  down: "M6 9l6 6 6-6z",
  fill: "M4 4h7v2H7.400l4.300 4.300-1.400 1.400L6 7.400V11H4zM13 18h3.600l-4.300-4.300 1.400-1.400 4.300 4.300V13h2v7h-7z",
  eye: "M12 5c5 0 8.500 4.500 9.500 7-1 2.500-4.500 7-9.500 7s-8.500-4.500-9.500-7C3.500 9.500 7 5 12 5zm0 2c-3.600 0-6.200 3-7.300 5 1.100 2 3.700 5 7.300 5s6.200-3 7.300-5c-1.100-2-3.700-5-7.300-5zm0 2a3 3 0 1 1 0 6 3 3 0 0 1 0-6z",
  undo: "M8 5v3h6a5.500 5.500 0 0 1 0 11H7v-2h7a3.500 3.500 0 0 0 0-7H8v3L3 9z",
  redo: "M16 5v3h-6a5.500 5.500 0 0 0 0 11h7v-2h-7a3.500 3.500 0 0 1 0-7h6v3l5-4z",
};

export function icon(name: string): SVGSVGElement {
  return s("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true", "fill-rule": "evenodd" }, s("path", { d: ICONS[name] }));
}

export interface ButtonOptions {
  label: string;
  icon?: string;
  text?: string;
  title?: string;
  class?: string;
  pressed?: boolean;
  onclick?: (event: MouseEvent) => void;
}

/** A button with an accessible name; `text` shows words, `icon` a picture. */
export function button(options: ButtonOptions): HTMLButtonElement {
  return h(
    "button",
    {
      type: "button",
      class: `button ${options.text ? "" : "square"} ${options.class ?? ""}`.trim(),
      "aria-label": options.label,
      title: options.title ?? options.label,
      "aria-pressed": options.pressed === undefined ? undefined : String(options.pressed),
      onclick: options.onclick,
    },
    options.icon ? icon(options.icon) : null,
    options.text ? h("span", {}, options.text) : null,
  );
}

/** A row of choices of which one holds, as radio buttons to assistive technology: tab leads to it, arrows choose. */
export function segmented<T extends string>(
  label: string, choices: readonly (readonly [T, string])[], picked: (value: T) => void,
): { element: HTMLElement; show: (value: T) => void } {
  const buttons = choices.map(([value, text], i) =>
    h("button", { type: "button", role: "radio", class: "segment", tabIndex: i ? -1 : 0, "aria-checked": "false", "data-value": value, onclick: () => picked(value) }, text),
  );
  const element = h("div", { class: "segments", role: "radiogroup", "aria-label": label }, ...buttons);
  element.addEventListener("keydown", (event) => {
    const step = arrowStep(event);
    if (!step) return;
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const next = (at + step + buttons.length) % buttons.length;
    buttons[next].focus();
    picked(choices[next][0]);
  });
  const show = (value: T): void => {
    const at = Math.max(0, choices.findIndex(([choice]) => choice === value));
    buttons.forEach((b, i) => {
      b.setAttribute("aria-checked", String(choices[i][0] === value));
      b.tabIndex = i === at ? 0 : -1;
    });
  };
  return { element, show };
}

/** 1 or -1 for a key that goes on or back in a row or a list, and 0 for any other; keys that do go no further. */
function arrowStep(event: KeyboardEvent): number {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key] ?? 0;
  if (step) {
    event.preventDefault();
    event.stopPropagation();
  }
  return step;
}

/** A switch with its label. */
export function toggle(label: string, changed: (on: boolean) => void, hint = ""): { element: HTMLElement; show: (on: boolean) => void; input: HTMLInputElement } {
  const input = h("input", { type: "checkbox", role: "switch", class: "switch", onchange: () => changed(input.checked) });
  const element = h("label", { class: "toggle" }, h("span", { class: "toggle-text" }, label), hint ? h("kbd", {}, hint) : null, input);
  return { element, input, show: (on) => void (input.checked = on) };
}

export interface Tabs {
  element: HTMLElement;
  bar: HTMLElement;
  show: (id: string) => void;
  current: () => string;
  enable: (id: string, on: boolean) => void;
}

/** Tabs over panels; the panels stay in the page so that nothing is lost by looking away. */
export function tabs(label: string, pages: { id: string; title: string; panel: HTMLElement }[], shown: (id: string) => void = () => {}): Tabs {
  let now = pages[0].id;
  const heads = pages.map((page) =>
    h("button", { type: "button", role: "tab", class: "tab", id: `tab-${page.id}`, "aria-controls": `panel-${page.id}`, onclick: () => show(page.id) }, page.title),
  );
  pages.forEach((page) => {
    page.panel.id = `panel-${page.id}`;
    page.panel.setAttribute("role", "tabpanel");
    page.panel.setAttribute("aria-labelledby", `tab-${page.id}`);
  });
  const bar = h("div", { class: "tabs", role: "tablist", "aria-label": label }, ...heads);
  bar.addEventListener("keydown", (event) => {
    const step = arrowStep(event);
    if (!step) return;
    const open = pages.filter((_, i) => !heads[i].hidden);
    const at = open.findIndex((page) => page.id === now);
    show(open[(at + step + open.length) % open.length].id);
    heads[pages.findIndex((page) => page.id === now)].focus();
  });
  function show(id: string): void {
    now = id;
    pages.forEach((page, i) => {
      heads[i].setAttribute("aria-selected", String(page.id === id));
      heads[i].tabIndex = page.id === id ? 0 : -1;
      page.panel.hidden = page.id !== id;
    });
    shown(id);
  }
  const enable = (id: string, on: boolean): void => {
    heads[pages.findIndex((page) => page.id === id)].hidden = !on;
    if (!on && now === id) show(pages[0].id);
  };
  show(now);
  const element = h("div", { class: "tabbed" }, bar, ...pages.map((page) => page.panel));
  return { element, bar, show, current: () => now, enable };
}

/** "1 clip", "2,000 clips". */
export function many(count: number, one: string, more = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : more}`;
}

export function clamp(x: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, x));
}

/** Hears of a pointer's moves as they happen: browsers keep back `pointermove` until they are about to draw. */
export function onMove(element: Element, moved: (event: PointerEvent) => void): void {
  const raw = "onpointerrawupdate" in window;
  element.addEventListener(raw ? "pointerrawupdate" : "pointermove", (event) => moved(event as PointerEvent));
}

/** A canvas that fills its element at the screen's resolution and is drawn on resize. */
export function plot(label: string, draw: (context: CanvasRenderingContext2D, width: number, height: number) => void): { canvas: HTMLCanvasElement; redraw: () => void } {
  const canvas = h("canvas", { class: "plot", role: "img", "aria-label": label });
  let asked = false;
  const paint = (): void => {
    asked = false;
    const { clientWidth, clientHeight } = canvas;
    if (!clientWidth || !clientHeight) return;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    if (canvas.width !== Math.round(clientWidth * ratio) || canvas.height !== Math.round(clientHeight * ratio)) {
      canvas.width = Math.round(clientWidth * ratio);
      canvas.height = Math.round(clientHeight * ratio);
    }
    const context = canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, clientWidth, clientHeight);
    draw(context, clientWidth, clientHeight);
  };
  const redraw = (): void => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(paint);
  };
  new ResizeObserver(redraw).observe(canvas);
  return { canvas, redraw };
}

const colours = new Map<string, string>();

/** A colour of the theme, by its CSS variable. Asked for once: browsers work out all styles to answer. */
export function themeColor(name: string): string {
  const key = `${document.documentElement.dataset["theme"]} ${name}`;
  const known = colours.get(key) ?? getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  colours.set(key, known);
  return known;
}

/** Sets a text only where it is another: what does not change need not be drawn again. */
export function setText(element: Element, text: string): void {
  const shown = inLine(text);
  if (element.textContent !== shown) element.textContent = shown;
}
