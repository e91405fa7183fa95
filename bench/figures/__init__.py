"""Stored runs of benches, and the pages that show them."""
