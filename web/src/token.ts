/**
 * `Token`: the secret of the link, which opens the studio.
 *
 * It comes in the link's fragment, which browsers send nowhere, and leaves the address bar at once. It is kept for this tab
 * alone (`sessionStorage`, which other ports and hosts cannot read) so that the page can be loaded again, and handed to other
 * tabs of this very address that ask for it. In a notebook's frame it stays in the frame's address: there is no bar to read
 * it from, and nobody who frames the page gets a token from it.
 */

const KEY = "marrow-token";
const CHANNEL = "marrow-token";
/** What a token is made of: it must fit into a header and a subprotocol. */
const TOKEN = /^[\w-]{8,256}$/;

type Word = { ask: true } | { token: string };

export class Token {
  value: string | null;
  /** Another token than the one there is was offered, by a link or by another tab. */
  onOffer: (token: string) => void = () => {};
  private readonly channel = inFrame() ? null : new BroadcastChannel(CHANNEL);

  constructor() {
    this.value = takeFromLink() ?? stored();
    if (this.value) this.keep(this.value);
    // The new link of a studio that was started again, opened where the old page is: only the fragment changes.
    window.addEventListener("hashchange", () => {
      const token = takeFromLink();
      if (token && token !== this.value) this.onOffer(token);
    });
  }

  /** Hears other tabs; `works` says whether the token is known to open the studio. */
  listen(works: () => boolean): void {
    if (!this.channel) return;
    this.channel.onmessage = ({ data }: MessageEvent<Word>) => {
      if ("ask" in data && works()) this.share();
      else if ("token" in data && TOKEN.test(data.token) && data.token !== this.value && !works()) this.onOffer(data.token);
    };
    if (!this.value) this.channel.postMessage({ ask: true } satisfies Word);
  }

  /** Tells tabs that have none, or an old one. */
  share(): void {
    if (this.value) this.channel?.postMessage({ token: this.value } satisfies Word);
  }

  keep(token: string): void {
    this.value = token;
    if (inFrame()) return;
    try {
      sessionStorage.setItem(KEY, token);
    } catch {
      // A browser that keeps nothing needs the link again after a reload.
    }
  }
}

function inFrame(): boolean {
  return window.self !== window.top;
}

function takeFromLink(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token !== null && !inFrame()) history.replaceState(history.state, "", location.pathname + location.search);
  return token && TOKEN.test(token) ? token : null;
}

function stored(): string | null {
  if (inFrame()) return null;
  try {
    const token = sessionStorage.getItem(KEY);
    return token && TOKEN.test(token) ? token : null;
  } catch {
    return null;
  }
}
