"""`python -m marrow`: the command line."""

from marrow.cli import main

main()
