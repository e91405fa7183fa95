"""Streams in the order of time: the defaults beside the constants and beside models that are fitted every night."""
