"""One family of exceptions; each message says what was asked, what was seen and what would be right."""

from __future__ import annotations


class AppleTasteError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(AppleTasteError, ValueError):
    """A value given by the caller cannot be used."""


class CostsError(InputError):
    """Costs under which there is nothing to decide."""


class FeedbackError(InputError):
    """A label that cannot exist: from a passed item, or neither 0 nor 1."""


class ConflictError(FeedbackError):
    """An id that comes again with other contents: another item, or another label."""


class UnknownDecisionError(FeedbackError):
    """An id that no decision of this stream has."""


class UnknownStreamError(InputError):
    """A name that no stream of this store has."""


class DataError(InputError):
    """A file or table that cannot be used; the message says where and what to do about it."""


class OptionError(InputError):
    """A name or option that does not exist, or a value it cannot take."""


class EngineError(AppleTasteError, RuntimeError):
    """Workers, or a whole cluster, that cannot do the work."""


class ThreadsError(AppleTasteError, RuntimeError):
    """A policy or a ledger that two threads use at the same time."""


class SaveFileError(AppleTasteError, OSError):
    """A saved file that cannot be read back, or that must not be written over."""


class RecordError(DataError):
    """A record that does not verify; ``seq`` is the number of the first event that differs, 0 where none is named."""

    def __init__(self, message: str, seq: int = 0) -> None:
        super().__init__(message)
        self.seq = seq

    def __reduce__(self) -> tuple[type[RecordError], tuple[str, int]]:
        return type(self), (str(self), self.seq)


class StoreError(AppleTasteError, OSError):
    """A store that cannot be used: in use elsewhere, unreachable, damaged, or of another version."""


class InUseError(StoreError):
    """A store in a file that another process writes; nothing was done."""


class NotOwnerError(StoreError):
    """A stream that another process owns by now; nothing was written."""


class OutcomeUnknownError(StoreError):
    """A write that failed: whether it is stored shows when the stream is opened again."""


class StoppedError(StoreError):
    """A stream that has stopped, because a write failed or because it was closed; nothing was done."""


class MissingExtraError(AppleTasteError, ImportError):
    """An optional dependency is needed and not installed."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs an optional dependency: pip install 'appletaste[{extra}]', or in the folder of a clone: "
            f"pip install '.[{extra}]'"
        )
        self.purpose, self.extra = purpose, extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        return type(self), (self.purpose, self.extra)  # so that it can come back from a worker


class PoorFitWarning(UserWarning):
    """An approximate posterior that is far from the exact one on this stream."""


class PositiveClassWarning(UserWarning):
    """A positive class that nobody has named: the alphabet picked it."""


class OneClassWarning(UserWarning):
    """Labels that are all the same: nothing can be learnt from them."""
