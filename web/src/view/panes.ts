/** What is shown where: one picture, or two side by side. */
import type { ViewOptions } from "../options";
import type { MethodChoice } from "./character";
import type { Pane } from "./picking";

export interface MethodPane extends Pane {
  method: MethodChoice;
}

/** The panes of a viewport; `second`: there is another character to compare with. */
export function panesOf({ compare, method }: ViewOptions, width: number, height: number, second: boolean): MethodPane[] {
  const half = { width: width / 2, height };
  if (compare === "skinning")
    return [
      { slot: 0, method: "linear", x: 0, ...half },
      { slot: 0, method: "dual_quaternion", x: width / 2, ...half },
    ];
  if (compare === "files" && second)
    return [
      { slot: 0, method, x: 0, ...half },
      { slot: 1, method, x: width / 2, ...half },
    ];
  return [{ slot: 0, method, x: 0, width, height }];
}
