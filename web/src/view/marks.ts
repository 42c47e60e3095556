/** Vertices that somebody points at: their numbers, and where they are now. */
import type { WebGLRenderer } from "three";
import type { CharacterView, MethodChoice } from "./character";
import type { Overlays } from "./overlays";

export interface MarkedVertices {
  mesh: number;
  vertices: number[];
}

export class Marks {
  private marked: MarkedVertices | null = null;

  set(marked: MarkedVertices | null, overlays: Overlays | null): void {
    this.marked = marked;
    overlays?.mark(marked?.vertices.length ?? 0);
  }

  /** Brings the dots to where the vertices are. */
  place(character: CharacterView, overlays: Overlays, renderer: WebGLRenderer, method: MethodChoice, instance: number): void {
    const { marked } = this;
    const part = marked && character.parts[marked.mesh];
    if (!marked || !part) return;
    const all = character.skinnedPositions(renderer, method, instance);
    let first = 0;
    for (let mesh = 0; mesh < marked.mesh; mesh++) first += character.parts[mesh].info.vertices;
    const places = new Float32Array(3 * marked.vertices.length);
    marked.vertices.forEach((vertex, i) => places.set(all.subarray(3 * (first + vertex), 3 * (first + vertex) + 3), 3 * i));
    overlays.placeDots(places);
  }
}
