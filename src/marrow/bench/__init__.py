"""`marrow bench`: what the engine costs, next to C++ twins and other libraries, in one run, as ratios."""
