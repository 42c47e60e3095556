"""Pages that need no server: the studio's own page with the character, its motion and the engine in one HTML file.

`packing.py` makes numbers small, `packed_meshes.py` and `packed_motion.py` say how those of meshes and clips are
told, `contents.py` gathers what a page carries, `document.py` writes the HTML, `export.py` is `mw.export_page`.
"""
