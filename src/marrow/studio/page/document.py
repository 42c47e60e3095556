"""The HTML of a page without a server: one file, nothing fetched.

All that comes from a character is base64 in script elements that browsers never run, but for its name in the title, which
is escaped. The policy names the two scripts that may run by their hashes (a short one that unpacks, and the page's own) and
forbids every connection: whatever a file holds, none of it is run, and nothing leaves the page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path

from marrow.errors import ValidationError
from marrow.printing import one_line
from marrow.studio.page.packing import deflated

__all__ = ["PROGRAM", "document"]

STATIC = Path(__file__).parent.parent / "static"
PROGRAM = "program"
BOOT = """\
(async () => {
  const fail = (words) => { document.getElementById("studio").textContent = words; };
  try {
    const text = atob(document.getElementById("marrow-program").textContent), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const script = document.createElement("script");
    script.type = "module";
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  } catch (error) {
    fail("This page needs a browser of 2023 or later, with WebGL 2 and WebAssembly. (" + error + ")");
  }
})();
"""
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' "
    "rx='7' fill='%231b2026'/%3E%3Cpath d='M9 21a3 3 0 1 1-2-3 3 3 0 1 1 3-2l6-6a3 3 0 1 1 5-2 3 3 0 1 1 2 3 3 3 0 1 1-3 "
    "2l-6 6a3 3 0 1 1-3 4z' fill='%23f0dcb4'/%3E%3C/svg%3E"
)
HTML = """\
<!doctype html>
<!-- Made by marrow. It contains:

{licences}
-->
<html lang="en" data-theme="dark">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark light">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<link rel="icon" href="{icon}">
<style>{style}</style>
</head>
<body>
<noscript>This page needs JavaScript, WebGL 2 and WebAssembly.</noscript>
<div id="studio"></div>
{parts}
<script>{boot}</script>
</body>
</html>
"""


@cache
def _program() -> tuple[str, str, str, bytes]:
    """The page's style, its licences, the hash of its script, and the script deflated."""
    try:
        script = (STATIC / "page.js").read_bytes()
        style = (STATIC / "page.css").read_text(encoding="utf-8")
        licences = (STATIC / "licenses.txt").read_text(encoding="utf-8")
    except OSError:
        raise ValidationError(_unbuilt()) from None
    if "</style" in style.lower():
        raise AssertionError("a style sheet ends its element")
    return style, licences.replace("--", "- -").strip(), _hash(script), deflated(script)


def _unbuilt() -> str:
    """Why there is no page: a checkout's is built by hand."""
    if (STATIC.parents[3] / "web" / "package.json").is_file():
        return "the studio's page is not built in this checkout: run `npm ci && npm run build` in web/"
    return "this installation has no page to export: it was built with MARROW_STUDIO=skip. Install it again without"


def _hash(script: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"


def document(name: str, parts: Mapping[str, bytes]) -> tuple[str, dict[str, int]]:
    """The page of a character with these parts, and how many bytes each part takes in it."""
    style, licences, allowed, program = _program()
    policy = (
        f"default-src 'none'; script-src {_hash(BOOT.encode())} {allowed} 'wasm-unsafe-eval'; style-src 'unsafe-inline'; "
        "img-src blob: data:; media-src blob:; connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
    told = {PROGRAM: program, **parts}
    elements = {
        key: f'<script type="application/octet-stream" id="marrow-{key}">{base64.b64encode(data).decode()}</script>'
        for key, data in told.items()
    }
    title = escape(f"{one_line(name)[:120]} · marrow" if name else "marrow")
    text = HTML.format(
        licences=licences,
        policy=policy,
        title=title,
        icon=ICON,
        style=style,
        parts="\n".join(elements.values()),
        boot=BOOT,
    )
    sizes = {key: len(element) for key, element in elements.items()}
    return text, {**sizes, "markup": len(text.encode()) - sum(sizes.values())}
