/** The wire to the server: one websocket that comes back by itself, and fetches that carry the page's token. */
import { type ClientMessage, type Frame, PARCEL_TYPE, parseFrame, type ServerMessage, type UploadAnswer, type UploadManifest } from "./protocol";
import type { Named } from "./ui/files";

/** `refused`: the server is there and does not know this page: it was started anew, with a link of its own. */
export type Status = "connecting" | "open" | "lost" | "refused";

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 3000;

export class Connection {
  onMessage: (message: ServerMessage) => void = () => {};
  onFrame: (frame: Frame) => void = () => {};
  onStatus: (status: Status) => void = () => {};
  status: Status = "connecting";
  private socket: WebSocket | null = null;
  private retry = FIRST_RETRY_MS;
  private readonly token = takeToken();

  address(path: string, query: Record<string, string | number> = {}): string {
    const url = new URL(path, new URL(".", location.href));
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, String(value));
    if (this.token) url.searchParams.set("token", this.token);
    return url.href;
  }

  connect(): void {
    const url = new URL(this.address("ws"));
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.retry = FIRST_RETRY_MS;
      this.setStatus("open");
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") this.onMessage(JSON.parse(event.data) as ServerMessage);
      else {
        const frame = parseFrame(event.data);
        if (frame) this.onFrame(frame);
      }
    };
    socket.onclose = () => {
      this.setStatus(this.status === "refused" ? "refused" : "lost");
      void this.ask();
      window.setTimeout(() => this.connect(), this.retry);
      this.retry = Math.min(2 * this.retry, LAST_RETRY_MS);
    };
  }

  /** A websocket does not say why it was turned away: an ordinary question does. */
  private async ask(): Promise<void> {
    try {
      const answer = await fetch(this.address("api/code"));
      if (answer.status === 403 && this.status === "lost") this.setStatus("refused");
    } catch {
      // Nobody is there.
    }
  }

  private setStatus(status: Status): void {
    this.status = status;
    this.onStatus(status);
  }

  send(message: ClientMessage): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  async json<T>(path: string, query: Record<string, string | number> = {}): Promise<T> {
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

  async fetch(path: string, query: Record<string, string | number> = {}, init?: RequestInit): Promise<Response> {
    const answer = await fetch(this.address(path, query), init);
    if (answer.ok) return answer;
    throw new Error(await reason(answer));
  }

  /** Sends files up, with progress; resolves to the server's answer. One goes as it is, several as a parcel. */
  upload(files: Named[], slot: number, progress: (fraction: number) => void): Promise<Partial<UploadAnswer>> {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("POST", this.address("api/upload", { name: files[0].file.name, slot }));
      request.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total);
      request.onerror = () => reject(new Error(`${files[0].file.name} did not reach the server.`));
      request.onload = () => {
        let answer: Partial<UploadAnswer> = {};
        try {
          answer = JSON.parse(request.responseText) as Partial<UploadAnswer>;
        } catch {
          answer = { error: request.responseText || request.statusText };
        }
        if (request.status >= 400 && !answer.error) answer.error = `The server answered ${request.status}.`;
        resolve(answer);
      };
      if (files.length > 1) request.setRequestHeader("Content-Type", PARCEL_TYPE);
      request.send(files.length > 1 ? parcel(files) : files[0].file);
    });
  }
}

/** Several files in one body: the length of a list of them, the list, and the files end to end. */
function parcel(files: Named[]): Blob {
  const manifest: UploadManifest = { files: files.map(({ name, file }) => ({ name, size: file.size })) };
  const list = new TextEncoder().encode(JSON.stringify(manifest));
  const length = new DataView(new ArrayBuffer(4));
  length.setUint32(0, list.length, true);
  // Without a type of its own, or the browser would announce that one.
  return new Blob([length, list, ...files.map(({ file }) => file)]);
}

async function reason(answer: Response): Promise<string> {
  const text = await answer.text().catch(() => "");
  try {
    const parsed = JSON.parse(text) as { error?: string };
    if (parsed.error) return parsed.error;
  } catch {
    // Plain text then.
  }
  return text.length > 0 && text.length < 400 ? text : `The server answered ${answer.status}.`;
}

/**
 * The token the page was opened with. It leaves the address bar, where others could read it and history would keep it; a
 * cookie opens the page again. Inside a notebook's frame there are no cookies, and no address bar either.
 */
function takeToken(): string | null {
  const url = new URL(location.href);
  const token = url.searchParams.get("token");
  if (!token || window.self !== window.top) return token;
  url.searchParams.delete("token");
  history.replaceState(history.state, "", url);
  return token;
}
