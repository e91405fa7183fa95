"""Streams that last, measured: docs/decisions/measured/service.md."""
