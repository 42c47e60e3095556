"""The numeric operations: `reference` is their specification in float64 NumPy, the rest are the fast CPU versions.

Who runs them is decided when the first one is called (`backend`).
"""
