"""`marrow gpu`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

__all__ = ["gpu"]


def gpu(*, json: Annotated[bool, Parameter(negative=())] = False) -> None:
    """List the GPUs marrow can compute on, the best first.

    Parameters
    ----------
    json
        Print JSON.
    """
    from marrow.errors import NoAdapterError
    from marrow.gpu import Device, adapters
    from marrow.gpu.device import NO_ADAPTER

    found = adapters()
    if not found:
        raise NoAdapterError(NO_ADAPTER)
    chosen = str(Device.best().adapter)
    if json:
        from marrow.cli._output import print_json

        print_json(
            [
                {
                    "name": a.name,
                    "backend": a.backend,
                    "type": a.type,
                    "driver": a.driver,
                    "software": a.is_software,
                    "chosen": str(a) == chosen,
                    "max_binding_bytes": a.raw.limits["max-storage-buffer-binding-size"],
                    "max_buffer_bytes": a.raw.limits["max-buffer-size"],
                }
                for a in found
            ]
        )
        return
    for i, a in enumerate(found):
        size = a.raw.limits["max-storage-buffer-binding-size"] >> 20
        print(f"{i}  {a}, shaders see {size:,} MiB at once{'  <- chosen' if str(a) == chosen else ''}")
    if len(found) > 1:
        print("MARROW_GPU=NUMBER, or a part of the name, chooses another one.")
