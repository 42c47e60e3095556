"""What a worker does in a test of sheets: it dies at one file, as a fault in native code would make it."""

import os
import signal

from marrow.cli.sheet import sheet_file


def draw(place, making, options):
    if place.endswith("small.glb"):
        os.kill(os.getpid(), signal.SIGSEGV)
    return sheet_file(place, making, options)
