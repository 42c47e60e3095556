"""What `marrow check` found, as a page that needs nothing else."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from typing import Any

from marrow.printing import one_line

__all__ = ["findings_page"]

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
body { color: #222; background: #fff }
h2 { margin: 2rem 0 .5rem; font-size: 1.1rem } table { border-collapse: collapse; width: 100% }
td, th { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid #ddd }
.error { color: #b00020; font-weight: 600 } .warning { color: #9a6700 } .info { color: #666 } code { color: #555 }
.remedy { color: #666; font-size: .9em } img { display: block; max-width: 100%; border-radius: 4px; margin: .4rem 0 }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } td, th { border-color: #333 }
  .error { color: #ff7a85 } .warning { color: #e3b341 } .info, .remedy, code { color: #999 } }
"""


def findings_page(files: Sequence[dict[str, Any]]) -> str:
    """An HTML page with a table for each file; `files` are objects as `marrow check --json` prints them. They and their
    findings may have a `picture`: the bytes of a PNG file."""
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>marrow check</title>",
        f"<style>{_STYLE}</style></head><body><h1>marrow check</h1>",
    ]
    for entry in files:
        findings = entry.get("findings", ())
        counts = {s: sum(f["severity"] == s for f in findings) for s in ("error", "warning", "info")}
        told = ", ".join(f"{n} {s}" for s, n in counts.items() if n) or "nothing to mend"
        parts.append(
            f"<h2>{escape(str(entry['file']))}: {'cannot be read' if 'error' in entry else told}</h2>"
        )
        if "error" in entry:
            parts.append(f"<p class='error'>{escape(entry['error'])}</p>")
        parts.append(_picture(entry, "the character"))
        if not findings:
            continue
        parts.append("<table><tr><th>severity</th><th>where</th><th>what</th><th>rule</th></tr>")
        for f in findings:
            parts.append(
                f"<tr><td class='{escape(f['severity'])}'>{escape(f['severity'])}</td><td>{escape(f['place'])}</td>"
                f"<td>{escape(f['message'])}<div class='remedy'>{escape(f['remedy'])}</div>"
                f"{_picture(f, f['place'])}</td>"
                f"<td><code>{escape(f['rule'])}</code></td></tr>"
            )
        parts.append("</table>")
    return "".join(parts) + "</body></html>\n"


def escape(text: str) -> str:
    """Text as HTML shows it, control characters as escapes."""
    return html.escape(one_line(text), quote=True)


def _picture(entry: dict[str, Any], words: str) -> str:
    if "picture" not in entry:
        return ""
    data = base64.b64encode(entry["picture"]).decode()
    return f"<img alt='{escape(words)}' src='data:image/png;base64,{data}'>"
