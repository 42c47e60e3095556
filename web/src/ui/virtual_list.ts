/**
 * `VirtualList`: rows of one height of which only those in sight are in the page, however many there are.
 *
 * What is left out above and below is empty space of the same height. Rows are made when they come into sight, `shown` anew
 * when something about them changes, and taken out again.
 */

/** Rows beside those in sight, so that a little scrolling shows no gap. */
const BESIDE = 12;

export class VirtualList {
  private items: readonly number[] = [];
  private readonly rows = new Map<number, HTMLElement>();
  private height = 0;
  private asked = false;
  private wanted = -1;

  constructor(
    private readonly list: HTMLElement,
    private readonly make: (item: number) => HTMLElement,
    private readonly show: (row: HTMLElement, item: number) => void,
  ) {
    list.classList.add("virtual");
    list.addEventListener("scroll", () => this.later(), { passive: true });
    new ResizeObserver(() => {
      this.height = 0; // rows may be of another height on another screen
      this.draw();
    }).observe(list);
  }

  /** Shows these, in this order; each may be there once. */
  set(items: readonly number[]): void {
    this.items = items;
    this.draw();
  }

  /** Forgets all rows: items mean something else from now on. */
  clear(): void {
    this.rows.clear();
    this.list.replaceChildren();
    this.list.scrollTop = 0;
    this.wanted = -1;
    this.place(0, this.items.length);
  }

  /** Brings the row at a position into sight, as soon as there is something to be seen. */
  reveal(position: number): void {
    this.wanted = position;
    this.draw();
  }

  /** How many rows are in sight. */
  get page(): number {
    return Math.max(1, Math.floor(this.list.clientHeight / Math.max(1, this.height)));
  }

  private later(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  draw(): void {
    const { list, items } = this;
    if (!items.length) this.clear();
    if (!list.clientHeight || !items.length) return;
    this.height ||= this.measure();
    const { height } = this;
    if (this.wanted >= 0) {
      const top = this.wanted * height;
      const low = top + height - list.clientHeight;
      // What is to come into sight must be there to be scrolled to: as empty space.
      this.place(0, 0);
      list.scrollTop = Math.min(top, Math.max(low, list.scrollTop));
      this.wanted = -1;
    }
    const first = Math.max(0, Math.min(Math.floor(list.scrollTop / height), items.length - 1) - BESIDE);
    const last = Math.min(items.length, Math.ceil((list.scrollTop + list.clientHeight) / height) + BESIDE);
    const seen = items.slice(first, last);
    const kept = new Set(seen);
    for (const [item, row] of this.rows) {
      if (kept.has(item)) continue;
      row.remove();
      this.rows.delete(item);
    }
    let before: Element | null = list.firstElementChild;
    for (const item of seen) {
      let row = this.rows.get(item);
      if (!row) this.rows.set(item, (row = this.make(item)));
      this.show(row, item);
      if (row === before) before = row.nextElementSibling;
      else list.insertBefore(row, before);
    }
    this.place(first, last);
  }

  private place(first: number, last: number): void {
    const { list, items, height } = this;
    list.style.setProperty("--above", `${first * height}px`);
    list.style.setProperty("--below", `${(items.length - last) * height}px`);
  }

  private measure(): number {
    const row = this.make(this.items[0]);
    this.list.append(row);
    const { height } = row.getBoundingClientRect();
    row.remove();
    return height || 24;
  }
}
