"""Models the built-in characters (`marrow.samples`): shapes, skeletons, weights, textures, clips.

It is no part of the installed package, which carries what comes out of it. `python -m samples_modeller`, with `tools/` on
the path, builds that into `src/marrow/samples/built`; installing from a clone does so too.
"""
