"""Streams for any program, over HTTP: ``appletaste serve``, and ``at.connect`` to reach it (docs/service.md)."""

from .client import Client, RefusedError, connect
from .signatures import read_hook

__all__ = ["Client", "RefusedError", "connect", "read_hook"]
