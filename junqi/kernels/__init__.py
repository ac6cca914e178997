"""Every compiled function: sets of points, moves, simulated games, sampled worlds and search.

Kernels take and return arrays and integers only. They are the fast twin of `rules.py`, which is
the authority; `simulate.py` is their face to the rest of the program. Words are ``uint64``
throughout: mixed with a signed integer they would silently become floating point.
"""
