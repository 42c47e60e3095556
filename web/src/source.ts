/** `Source`: where the page has its character and frames from: a server, or data that the page itself carries. */
import type { ClientMessage, DrawingMessage, Frame, ServerMessage, UploadAnswer } from "./protocol";
import type { Named } from "./ui/files";

/**
 * `refused`: the server is there and does not know this page: it was started anew, with a link of its own. `unlinked`: the page
 * was opened without the token of its link.
 */
export type Status = "connecting" | "open" | "lost" | "refused" | "unlinked";
export type Query = Record<string, string | number | string[]>;
export interface Request {
  method?: string;
  headers?: Record<string, string>;
  body?: BodyInit;
}

/**
 * What can be done beyond playing: other characters opened and compared, clips edited, files exported, joints held, keys of
 * the file looked at, the character checked, code copied, graphs made. `stream`: frames come over a wire, which others may watch.
 */
export type Ability = "open" | "edit" | "export" | "effectors" | "keys" | "check" | "code" | "stream";

export abstract class Source {
  onMessage: (message: ServerMessage) => void = () => {};
  onFrame: (frame: Frame) => void = () => {};
  onDrawing: (message: DrawingMessage) => void = () => {};
  onStatus: (status: Status) => void = () => {};
  status: Status = "connecting";
  /** What can be done; panels for the rest are not there. */
  abstract readonly can: ReadonlySet<Ability>;
  /** Something the visitor should know of how frames are made. */
  note = "";

  /** Begins: a `hello` follows. */
  abstract start(): void;
  abstract send(message: ClientMessage): void;
  abstract fetch(path: string, query?: Query, init?: Request): Promise<Response>;
  abstract upload(files: Named[], slot: number, progress: (fraction: number) => void): Promise<Partial<UploadAnswer>>;

  async json<T>(path: string, query: Query = {}): Promise<T> {
    return (await (await this.fetch(path, query)).json()) as T;
  }

  async text(path: string): Promise<string> {
    return (await this.fetch(path)).text();
  }

  /** A large answer, with its progress from 0 to 1 as it arrives. */
  async bytes(answer: Response, expected: number, progress: (fraction: number) => void): Promise<ArrayBuffer> {
    if (!answer.body || !expected) return answer.arrayBuffer();
    const out = new Uint8Array(expected);
    const reader = answer.body.getReader();
    let at = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (at + value.length > expected) throw new Error("The server sent more than it announced.");
      out.set(value, at);
      at += value.length;
      progress(at / expected);
    }
    if (at !== expected) throw new Error("The character did not arrive whole.");
    return out.buffer;
  }

  protected setStatus(status: Status): void {
    this.status = status;
    this.onStatus(status);
  }
}
