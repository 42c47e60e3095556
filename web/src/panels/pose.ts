/** Which pose is shown: what is played, also with joints that are held; the bind pose, or one made by hand, which can be copied as code. */
import type { App } from "../app";
import { button, h, many, segmented } from "../ui/dom";
import type { HandTool } from "../view/gizmo";
import type { PoseKind } from "../view/poser";
import { copyText } from "./code";
import { effectorTools } from "./effectors";

export function poseTools(app: App): HTMLElement {
  const kinds = segmented("Pose", [["played", "Played"], ...(app.source.can.has("effectors") ? [["effectors", "Effectors"] as const] : []), ["hand", "By hand"], ["bind", "Bind"]] as const, (kind: PoseKind | "effectors") => choose(kind));
  const tools = segmented("Tool", [["rotate", "Turn"], ["reach", "Reach"], ["move", "Move"]] as const, (tool: HandTool) => {
    app.viewport.hands.tool = tool;
    show();
  });
  const words = h("p", { class: "note" });
  const reset = button({ label: "Put all joints back", text: "Put back", onclick: () => {
    app.viewport.hands.reset();
    show();
  } });
  const copy = button({ label: "Copy the pose as Python code", icon: "code", text: "Copy code", onclick: () => void copyPose(app) });
  const byHand = h("div", {}, tools.element, words, h("div", { class: "buttons" }, reset, app.source.can.has("code") ? copy : null));

  const effectors = effectorTools(app);

  function choose(kind: PoseKind | "effectors"): void {
    if ((kind === "hand" || kind === "effectors") && app.state?.playing) app.send({ type: "play", playing: false });
    app.viewport.hands.show(kind === "effectors" ? "played" : kind);
    app.viewport.handles.show(kind === "effectors");
    app.emit("rig", undefined);
    show();
  }

  function show(): void {
    const { hands, handles } = app.viewport;
    kinds.show(handles.on && hands.kind === "played" ? "effectors" : hands.kind);
    effectors.show();
    tools.show(hands.tool);
    byHand.hidden = hands.kind !== "hand";
    const joint = app.characters[0]?.joints[app.selected]?.name;
    const how = { rotate: "Turn it with the rings.", reach: "Drag it: the two bones above bend so that it gets there.", move: "Drag it along an axis." }[hands.tool];
    words.textContent = `${joint ? `${joint}: ${how}` : "Pick a joint to turn or drag it."} ${hands.moved ? `${many(hands.moved, "joint")} put by hand.` : ""}`;
    reset.disabled = copy.disabled = hands.moved === 0;
  }

  app.viewport.hands.onChange = show;
  app.on("selection", show);
  app.on("character", show);
  show();
  return h("section", {}, h("h2", {}, "Pose"), kinds.element, effectors.element, byHand);
}

/** The pose as it stands, as a script: what brought the character here, and the joints that were put by hand. */
async function copyPose(app: App): Promise<void> {
  try {
    const lines = (await app.source.text("api/code")).trimEnd().split("\n").filter((line) => !/^(surface =|mw\.view\(|studio =)/.test(line));
    const numbers = (values: number[]): string => `[${values.map((v) => Number(v.toFixed(6))).join(", ")}]`;
    if (!lines.some((line) => line.startsWith("pose ="))) lines.push("pose = animator.pose.copy()");
    lines.push("joints = character.skeleton.names.index");
    for (const [joint, local] of app.viewport.hands.transforms()) {
      const at = `joints(${JSON.stringify(app.characters[0]!.joints[joint].name)})`;
      lines.push(`pose.rotation[${at}] = ${numbers(local.rotation.toArray())}`);
      if (app.viewport.hands.shifted(joint)) lines.push(`pose.translation[${at}] = ${numbers(local.translation.toArray())}`);
    }
    lines.push("surface = mw.skin(character, pose)  # .positions, .normals, .tangents", "");
    await copyText(lines.join("\n"), "The pose was copied as Python code");
  } catch (error) {
    app.emit("problem", (error as Error).message);
  }
}
