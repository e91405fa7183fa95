"""One live use: a policy at its desk, with late labels, limited reviewers and audits; and a stream that lasts."""

from .answers import FROZEN, LIVE, MODES, SAFE, SHADOW, Answer, Case, LabelReceipt
from .audit import Audit
from .awaiting import Awaiting
from .budget import Budget, Calendar
from .desk import Desk
from .from_history import Prepared, from_history
from .ledger import Ledger, Receipt
from .saving import load, load_policy
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
    "Prepared",
    "Receipt",
    "Stream",
    "Verified",
    "from_history",
    "load",
    "load_policy",
]
