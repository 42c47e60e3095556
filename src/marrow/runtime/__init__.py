"""Runtimes without Python: characters and graphs baked into one file, for pages (`runtime/web`) and engines
(`libmarrow`, `runtime/c`)."""

from marrow.runtime.baking import BakedRuntime, bake_runtime, baked

__all__ = ["BakedRuntime", "bake_runtime", "baked"]
