"""What these tests need besides Python."""

import shutil

# Emulation of another processor is an extra: where its tools are missing there is nothing to collect, rather than to skip.
collect_ignore = (
    [] if shutil.which("qemu-aarch64") and shutil.which("aarch64-linux-gnu-gcc") else ["test_arm64.py"]
)
