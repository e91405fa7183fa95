"""Rare segments that pay, among columns that do not: whether ``voi`` finds them, and what looking costs."""
