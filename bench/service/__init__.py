"""Streams that last, measured: docs/service.md."""
