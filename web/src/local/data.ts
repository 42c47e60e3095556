/** What the page carries, by name: base64 of deflated bytes, in script elements that are never run. */
import type { PageInfo } from "../protocol";

const PREFIX = "marrow-";

/** The bytes of a part as they were stored; null where the page has none of that name. */
function stored(name: string): Uint8Array<ArrayBuffer> | null {
  const element = document.getElementById(PREFIX + name);
  if (!element) return null;
  const told = element.textContent ?? "";
  element.remove();
  // Newer browsers do it many times as fast.
  const { fromBase64 } = Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
  if (fromBase64) return fromBase64(told);
  const text = atob(told);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out;
}

async function inflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** A part of the page, whole again. */
export async function part(name: string): Promise<Uint8Array<ArrayBuffer> | null> {
  const bytes = stored(name);
  return bytes && inflated(bytes);
}

export async function needed(name: string): Promise<Uint8Array<ArrayBuffer>> {
  const found = await part(name);
  if (!found) throw new Error(`This page is not whole: it has no ${name}.`);
  return found;
}

/** An image, byte for byte as the file had it. */
export function image(index: number): Uint8Array<ArrayBuffer> | null {
  return stored(`image-${index}`);
}

export async function pageInfo(): Promise<PageInfo> {
  return JSON.parse(new TextDecoder().decode(await needed("info"))) as PageInfo;
}
