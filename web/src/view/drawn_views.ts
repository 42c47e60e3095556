/** `DrawnViews`: shows the drawing of an actor: its lines, the colours of its surface, its ghosts. */
import { Group, type Material, type WebGLRenderer } from "three";
import { Body, type Crew } from "./body";
import type { CharacterView, MethodChoice } from "./character";
import type { Drawing } from "./drawing";
import { type LineScale, MeshLines, WorldLines } from "./lines";

const LINES = ["line_start", "line_end", "line_color", "line_width", "line_hidden"];
const GHOSTS = ["ghost_matrices", "ghost_morphs", "ghost_placements", "ghost_colors"];

export class DrawnViews {
  readonly group = new Group();
  private readonly lines: WorldLines;
  private onSurface: { lines: MeshLines; level: number; instance: number }[] = [];
  private ghosts: Body | null = null;
  private crew: Crew | null = null;
  private shown = 0;

  constructor(
    private readonly character: CharacterView,
    private readonly scale: LineScale,
  ) {
    this.lines = new WorldLines(scale);
    this.group.add(this.lines.group);
  }

  /** Brings what is new of a drawing into the picture. */
  take(drawing: Drawing): void {
    if (this.shown === drawing.version) return;
    const before = this.shown;
    this.shown = drawing.version;
    if (drawing.newer(before, ...LINES)) this.lines.show(drawing.floats("line_start"), drawing.floats("line_end"), drawing.bytes("line_color"), drawing.floats("line_width"), drawing.floats("line_hidden"));
    const { text } = drawing;
    const named = text.surface.flatMap((_, k) => ["start", "end", "color"].map((part) => `surface${k}_${part}`));
    if (drawing.newer(before, "", ...named)) this.layLines(drawing);
    if (drawing.newer(before, "", ...text.paints.map((_, k) => `paint${k}`)))
      this.character.showPaints(text.paints.map((info, k) => ({ info, colors: info.mode === "vertices" ? drawing.array(`paint${k}`) : null })));
    if (drawing.newer(before, "", ...GHOSTS)) this.showGhosts(drawing);
  }

  /** Lines on surfaces, mesh by mesh: vertices are numbered through all of them. */
  private layLines(drawing: Drawing): void {
    for (const { lines } of this.onSurface) {
      this.group.remove(lines.group);
      lines.dispose();
    }
    this.onSurface = [];
    drawing.text.surface.forEach((info, k) => {
      const [start, end, colors] = [drawing.numbers(`surface${k}_start`), drawing.numbers(`surface${k}_end`), drawing.bytes(`surface${k}_color`)];
      let first = 0;
      for (const part of this.character.body(info.level).parts) {
        const last = first + part.info.vertices;
        const mine = [...start.keys()].filter((i) => start[i] >= first && start[i] < last);
        const from = Float32Array.from(mine, (i) => start[i] - first);
        const to = info.along ? from : Float32Array.from(mine, (i) => end[i] - first);
        const own = colors.length === 4 ? colors : Uint8Array.from(mine.flatMap((i) => [...colors.subarray(4 * i, 4 * i + 4)]));
        first = last;
        if (!mine.length) continue;
        for (const instance of info.instances) {
          const lines = new MeshLines(this.scale, part.skinned.results, { ...info, length: info.along ? info.length : 0 }, from, to, own);
          this.group.add(lines.group);
          this.onSurface.push({ lines, level: info.level, instance });
        }
      }
    });
  }

  /** The character at other times: instances of their own, that light falls through. */
  private showGhosts(drawing: Drawing): void {
    const count = drawing.text.ghosts;
    if (!count) {
      if (this.ghosts) this.ghosts.group.visible = false;
      this.crew = null;
      return;
    }
    const { character } = this;
    this.ghosts ??= this.makeGhosts();
    this.ghosts.group.visible = true;
    this.crew = {
      count, matrices: drawing.floats("ghost_matrices"), width: character.width, placements: drawing.floats("ghost_placements"),
      morphs: drawing.floats("ghost_morphs"), morphWeights: character.morphWeights, pivots: character.pivots, store: null, ensure: () => {},
    };
    const colors = drawing.bytes("ghost_colors");
    this.ghosts.outdate();
    this.ghosts.choose(Array.from({ length: Math.min(count, this.ghosts.most) }, (_, i) => i));
    for (const part of this.ghosts.parts) {
      part.paint.showEach(colors);
      for (const material of part.mesh.material as Material[]) material.opacity = colors[3] / 255;
    }
  }

  private makeGhosts(): Body {
    const body = this.character.another();
    for (const part of body.parts) {
      part.mesh.castShadow = false;
      part.mesh.renderOrder = 1;
      for (const material of part.mesh.material as Material[]) {
        material.transparent = true;
        material.depthWrite = false;
      }
    }
    this.group.add(body.group);
    return body;
  }

  /** Before a picture is drawn: everything goes where the instances are that are drawn. */
  update(renderer: WebGLRenderer, method: MethodChoice): void {
    const { character } = this;
    for (const { lines, level, instance } of this.onSurface) lines.on = character.body(level).chosen.indexOf(instance);
    character.arrangePaints();
    if (!this.crew || !this.ghosts) return;
    this.ghosts.parts.forEach((part, i) => (part.mesh.visible = character.shows(i)));
    this.ghosts.skin(renderer, method, this.crew, character.used);
  }

  dispose(): void {
    this.lines.dispose();
    for (const { lines } of this.onSurface) lines.dispose();
    this.ghosts?.dispose();
  }
}
