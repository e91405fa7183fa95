"""What became of a decision, in five words, and the label that is not known: declared here and nowhere else."""

from __future__ import annotations

from ..decision import UNKNOWN

PENDING = "pending"  #: acted on; the label has not arrived
OBSERVED = "observed"  #: the label arrived
CORRECTED = "corrected"  #: the label arrived and was replaced by another
EXPIRED = "expired"  #: nobody waits for the label any more; it is unknown, never negative
NEVER_DUE = "never_due"  #: passed, so there will be no label
STATES = (PENDING, OBSERVED, CORRECTED, EXPIRED, NEVER_DUE)

__all__ = ["CORRECTED", "EXPIRED", "NEVER_DUE", "OBSERVED", "PENDING", "STATES", "UNKNOWN"]
