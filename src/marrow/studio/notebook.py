"""The frame that a notebook shows a studio in, on this machine or through the notebook's own server.

On this machine the page is at its own address. A notebook that comes from elsewhere (JupyterHub, a cluster) reaches it
through `jupyter-server-proxy`, under the notebook server's own address: `.../proxy/8421/`. Which of the two it is only
the browser knows, so a few lines of script in the frame's cell decide; without them the address that the environment
tells is taken.
"""

from __future__ import annotations

import json
import os
from html import escape

from marrow.studio.address import Address

__all__ = ["frame", "proxy_address"]

# The base address is told by JupyterLab and Notebook 7 in a script element, by older notebooks in the body's data.
SCRIPT = """(function () {
  var frame = document.getElementById(%s);
  if (!frame) return;
  var host = location.hostname, here = ["localhost", "127.0.0.1", "[::1]", ""].indexOf(host) >= 0;
  if (here || location.protocol.indexOf("http") !== 0) return;
  var base = document.body.getAttribute("data-base-url"), config = document.getElementById("jupyter-config-data");
  try { base = base || JSON.parse(config.textContent).baseUrl; } catch (_) {}
  frame.src = (base || "/").replace(/\\/?$/, "/") + %s;
})();"""


def proxy_address(address: Address) -> str | None:
    """The studio through the notebook server's proxy, relative to its host; None where the environment tells of
    none."""
    prefix = os.environ.get("JUPYTERHUB_SERVICE_PREFIX")
    return f"{prefix.rstrip('/')}/{_proxied(address)}" if prefix else None


def _proxied(address: Address) -> str:
    return f"proxy/{address.port}/{address.fragment}"


def frame(address: Address) -> str:
    """The HTML of a cell that shows the studio."""
    name = f"marrow-{address.port}-{os.urandom(4).hex()}"
    known = proxy_address(address)
    # JupyterHub says where it is; elsewhere the script finds out.
    first = known or address.url
    script = "" if known else f"<script>{SCRIPT % tuple(map(json.dumps, (name, _proxied(address))))}</script>"
    return (
        f'<iframe id="{name}" src="{escape(first)}" title="marrow studio" width="100%" height="640" '
        f'style="border:0;border-radius:8px" allow="fullscreen; gamepad"></iframe>{script}'
    )
