"""`marrow export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from marrow.cli._errors import UsageError, note
from marrow.cli._output import bytes_text, say

__all__ = ["export"]


def export(
    file: str,
    /,
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    graph: Path | None = None,
    clip: Annotated[list[str] | None, Parameter(negative=())] = None,
    count: int = 1,
    texture_size: int | None = None,
    max_bytes: int | None = None,
    force: Annotated[bool, Parameter(name=("--force", "-f"), negative=())] = False,
) -> None:
    """Write a page that shows a character without a server: one HTML file.

    Parameters
    ----------
    file
        A file, or the name of a sample.
    output
        The page to write: .html.
    graph
        A graph file that moves the character. A sample brings its own.
    clip
        Keep this clip; may be given several times. All of them when left out.
    count
        How many there are at first; the page has a slider.
    texture_size
        Make larger images smaller, to so many pixels.
    max_bytes
        Refuse to write a larger page, and say what takes how much.
    force
        Replace the output if it exists.
    """
    from marrow.cli._files import is_sample, open_character, writable
    from marrow.studio.makers import maker_of_sample
    from marrow.studio.page.export import export_page

    if output.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"{output}: expected a file that ends in .html")
    writable(output, force=force)
    options = {"clips": clip, "count": count, "texture_size": texture_size, "max_bytes": max_bytes}
    if is_sample(file):
        own = maker_of_sample(file, 0, graph)()
        made = export_page(own.character, output, graph=own.graph, **options)  # type: ignore[arg-type]
    else:
        made = export_page(open_character(file), output, graph=graph, **options)  # type: ignore[arg-type]
    shares = sorted(made.parts.items(), key=lambda part: -part[1])
    say(
        f"{output}: {bytes_text(made.bytes)} ({', '.join(f'{name} {bytes_text(size)}' for name, size in shares)})"
    )
    say(
        f"motion within {1000 * made.motion_error:.2g} mm of the clips, vertices within {1000 * made.position_error:.2g} mm"
    )
    for line in made.notes:
        note(line)
