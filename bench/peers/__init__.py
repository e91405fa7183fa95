"""Policies of several libraries on one job: whether to act on each item, when its label is seen only if one acts."""
