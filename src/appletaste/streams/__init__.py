"""One live use: a policy at its desk, with late labels, limited reviewers and audits; and a stream that lasts."""

from .answers import Answer, Case, LabelReceipt
from .audit import Audit
from .awaiting import Awaiting
from .budget import Budget, Calendar
from .desk import Desk
from .ledger import Ledger, Receipt
from .loading import load
from .modes import FROZEN, LIVE, MODES, SAFE, SHADOW
from .stream import Stream
from .verify import Gap, Verified

__all__ = [
    "FROZEN",
    "LIVE",
    "MODES",
    "SAFE",
    "SHADOW",
    "Answer",
    "Audit",
    "Awaiting",
    "Budget",
    "Calendar",
    "Case",
    "Desk",
    "Gap",
    "LabelReceipt",
    "Ledger",
    "Receipt",
    "Stream",
    "Verified",
    "load",
]
