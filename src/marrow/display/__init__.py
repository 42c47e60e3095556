"""How marrow shows itself where Python is typed: cards in notebooks, short words in terminals, how far long calls are.

Nothing here imports IPython: where a notebook runs, it is there already.
"""
