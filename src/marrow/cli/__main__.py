"""`python -m marrow.cli`."""

from marrow.cli import main

main()
