"""What a notebook shows of a studio: a page that is kept, or a still picture, and, while the notebook is open, the studio.

On this machine the page is at its own address. A notebook that comes from elsewhere (JupyterHub, a cluster, a tunnel)
reaches it through `jupyter-server-proxy`, under the notebook server's own address: `.../proxy/8421/`. Which of the two it
is only the browser knows, so a few lines of script in the cell try. They do nothing in a page that was made of the
notebook, nor when it is opened later: what is saved holds neither the token nor an address that leads anywhere.

The page that is kept needs no server (`page/`). It lies over its picture, in a frame that may run its own scripts and touch
nothing of the notebook; where frames are taken out, as on some sites that show notebooks, the picture is left.
"""

from __future__ import annotations

import base64
import json
import os
import time
from html import escape
from typing import TYPE_CHECKING

from marrow.studio.address import Address
from marrow.studio.tickets import LIFE

if TYPE_CHECKING:
    from marrow.rendering.frame import Frame

__all__ = ["cell_html", "proxy_prefix"]

LATER = "A still picture of the studio: run the cell to open it."
KEPT = "A page of its own, which needs no kernel: run the cell to open the studio."
FRAME = (
    '<iframe title="{title}" sandbox="allow-scripts allow-downloads" allow="fullscreen; gamepad" loading="lazy" '
    'style="border:0;border-radius:8px;width:100%;height:640px;position:relative" srcdoc="{page}"></iframe>'
)
INSTALL = (
    "This notebook comes from another machine, and its server does not hand the studio on. Where Jupyter runs: "
    "pip install jupyter-server-proxy, then start Jupyter again and run this cell. Or forward port %d to this machine."
)
# The base address is told by JupyterLab and Notebook 7 in a script element, by older notebooks in the body's data.
SCRIPT = """(function (name, ticket, direct, proxied, known, install, made, life) {
  var box = document.getElementById(name), config = document.getElementById("jupyter-config-data");
  var base = document.body.getAttribute("data-base-url"), editor = location.protocol === "vscode-webview:";
  var open = config || base !== null || editor;
  if (!box || !open || Math.abs(Date.now() - made) > life) return;
  try { base = base || JSON.parse(config.textContent).baseUrl; } catch (_) {}
  var hosts = ["localhost", "127.0.0.1", "[::1]", ""], here = editor || hosts.indexOf(location.hostname) >= 0;
  var through = known || (base || "/").replace(/\\/?$/, "/") + proxied;
  function show(address) {
    var frame = document.createElement("iframe");
    frame.title = "marrow studio";
    frame.allow = "fullscreen; gamepad";
    frame.style.cssText = "border:0;border-radius:8px;width:100%%;height:640px";
    frame.src = address + "open/" + ticket;
    box.replaceChildren(frame);
  }
  function proxy() {
    fetch(through + "open/" + ticket + "/there").then(function (answer) {
      if (answer.ok) return show(through);
      if (answer.status !== 404) return;
      var words = document.createElement("p");
      words.textContent = install;
      box.append(words);
    }).catch(function () {});
  }
  if (known || !here) return proxy();
  var probe = new Image();
  probe.onload = function () { if (probe.naturalWidth === 1) show(direct); };  // 2: it was used
  probe.onerror = editor ? null : proxy;
  probe.src = direct + "open/" + ticket + "/there";
})(%s);"""


def proxy_prefix(address: Address) -> str | None:
    """Where the notebook server's proxy has the studio, relative to its host; None where the environment tells of none."""
    prefix = os.environ.get("JUPYTERHUB_SERVICE_PREFIX")
    return f"{prefix.rstrip('/')}/proxy/{address.port}/" if prefix else None


def cell_html(address: Address, ticket: str, still: Frame | None, words: str, page: str | None = None) -> str:
    """The HTML of a cell that shows the studio; `words` say what is to be seen, or why there is no picture. `page` is
    the HTML of one that needs no server."""
    name = f"marrow-{os.urandom(6).hex()}"
    given = (
        name, ticket, address.url.removesuffix(address.fragment), f"proxy/{address.port}/", proxy_prefix(address),
        INSTALL % address.port, round(1000 * time.time()), round(1000 * LIFE),
    )  # fmt: skip
    # No text may end the script element.
    arguments = ", ".join(json.dumps(value).replace("<", "\\u003c") for value in given)
    picture = ""
    if still is not None:
        data = base64.b64encode(still.encoded(".jpg")).decode()
        look = "display:block;max-width:100%;height:auto;border-radius:8px"
        if page is not None:
            look += ";position:absolute;inset:0;width:100%;height:100%;object-fit:cover"
        picture = f'<img src="data:image/jpeg;base64,{data}" alt="{escape(words)}" style="{look}">'
    if page is not None:
        text = page.replace("&", "&amp;").replace('"', "&quot;")
        frame = FRAME.format(title=escape(words), page=text)
        picture = f'<div style="position:relative">{picture}{frame}</div>'
    caption = f'<small style="opacity:.65">{escape(words)} {KEPT if page is not None else LATER}</small>'
    return f'<div id="{name}">{picture}{caption}</div><script>{SCRIPT % arguments}</script>'
