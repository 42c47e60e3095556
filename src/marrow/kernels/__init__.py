"""The numeric operations: `reference` is their specification in float64 NumPy, the rest are the fast CPU versions.

Nothing here imports Numba until a fast kernel is first called.
"""
