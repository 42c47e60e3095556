/** What is shown: the character in slot 0, one to compare with in slot 1, the other actors of a scene from slot 2 on. */
import { Box3 } from "three";
import { finite } from "./camera";
import type { CharacterView } from "./character";
import type { Crowd } from "./crowd";
import type { DrawnViews } from "./drawn_views";
import type { Overlays } from "./overlays";

export interface Slot {
  character: CharacterView;
  overlays: Overlays;
  views: DrawnViews;
  crowd: Crowd;
}

/** Whether other actors stand around the character. */
export function inScene(slots: (Slot | null)[]): boolean {
  return slots.some((slot, i) => i > 1 && slot);
}

/** The box around everybody: the character or its crowd, and the other actors of a scene. */
export function sceneBounds(slots: (Slot | null)[]): Box3 {
  const box = slots[0]?.character.crowdBounds(new Box3()) ?? new Box3();
  slots.forEach((slot, i) => {
    if (i < 2 || !slot?.character.count) return;
    const other = slot.character.crowdBounds(new Box3());
    if (finite(other)) box.union(other);
  });
  return box;
}
