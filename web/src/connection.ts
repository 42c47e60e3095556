/** The wire to the server: one websocket that comes back by itself, and fetches that carry the page's token. */
import {
  type ClientMessage, PAGE_HEADER, PARCEL_TYPE, parseDrawing, parseFrame, type ServerMessage, SOCKET_PROTOCOL, TOKEN_HEADER, TOKEN_PROTOCOL, type UploadAnswer, type UploadManifest,
} from "./protocol";
import { type Ability, type Query, type Request, Source } from "./source";
import { Token } from "./token";
import type { Named } from "./ui/files";

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 3000;
const ABILITIES: Ability[] = ["open", "edit", "export", "effectors", "keys", "check", "code", "stream"];

export class Connection extends Source {
  readonly can = new Set(ABILITIES);
  private socket: WebSocket | null = null;
  private retry = FIRST_RETRY_MS;
  private timer = 0;
  /** What the server knows this page by. */
  private page = "";
  private readonly token = new Token();

  /** Connects now, and again whenever the connection is lost. */
  start(): void {
    this.token.onOffer = (token) => void this.consider(token);
    this.token.listen(() => this.status === "open");
    this.connect();
  }

  private connect(): void {
    window.clearTimeout(this.timer);
    if (!this.token.value) {
      this.setStatus("unlinked");
      return;
    }
    const url = new URL(address("ws"));
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    // Nothing but its protocols can go with a websocket's request. The first is the one that is answered.
    const socket = new WebSocket(url, [SOCKET_PROTOCOL, TOKEN_PROTOCOL + this.token.value]);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.retry = FIRST_RETRY_MS;
      this.setStatus("open");
      this.token.share();
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") {
        const message = JSON.parse(event.data) as ServerMessage;
        if (message.type === "hello") this.page = message.page;
        this.onMessage(message);
      } else {
        const drawing = parseDrawing(event.data);
        const frame = drawing ? null : parseFrame(event.data);
        if (drawing) this.onDrawing(drawing);
        else if (frame) this.onFrame(frame);
      }
    };
    socket.onclose = () => {
      if (socket !== this.socket) return;
      this.setStatus(this.status === "refused" ? "refused" : "lost");
      // A websocket does not say why it was turned away: an ordinary question does.
      void this.opens(this.token.value ?? "").then((opens) => {
        if (opens === false && this.status === "lost") this.setStatus("refused");
      });
      this.timer = window.setTimeout(() => this.connect(), this.retry);
      this.retry = Math.min(2 * this.retry, LAST_RETRY_MS);
    };
  }

  /** Whether a token opens the studio; null where nobody is there to say. */
  private async opens(token: string): Promise<boolean | null> {
    try {
      return (await fetch(address("api/code"), { headers: { [TOKEN_HEADER]: token } })).status !== 403;
    } catch {
      return null;
    }
  }

  /** Takes another token if it is better than the one there is. */
  private async consider(token: string): Promise<void> {
    if (!(await this.opens(token))) return;
    this.token.keep(token);
    const before = this.socket;
    this.socket = null;
    before?.close();
    this.connect();
  }

  send(message: ClientMessage): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** What goes with every request: the token, and whose request it is. */
  private get headers(): Record<string, string> {
    return { [TOKEN_HEADER]: this.token.value ?? "", [PAGE_HEADER]: this.page };
  }

  async fetch(path: string, query: Query = {}, init: Request = {}): Promise<Response> {
    const answer = await fetch(address(path, query), { ...init, headers: { ...init.headers, ...this.headers } });
    if (answer.ok) return answer;
    throw new Error(await reason(answer));
  }

  /** Sends files up, with progress; resolves to the server's answer. One goes as it is, several as a parcel. */
  upload(files: Named[], slot: number, progress: (fraction: number) => void): Promise<Partial<UploadAnswer>> {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("POST", address("api/upload", { name: files[0].file.name, slot }));
      for (const [name, value] of Object.entries(this.headers)) request.setRequestHeader(name, value);
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

/** An address of the server, which may lie under a path of a notebook's. */
function address(path: string, query: Query = {}): string {
  const url = new URL(path, new URL(".", location.href));
  for (const [key, value] of Object.entries(query)) for (const one of [value].flat()) url.searchParams.append(key, String(one));
  return url.href;
}
