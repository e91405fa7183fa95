"""Compiled code, and the only place that imports Numba: scalar functions first, array loops on top."""
