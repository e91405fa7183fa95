"""One live use: a policy at its desk, with late labels, limited reviewers and audits."""

from .audit import Audit
from .awaiting import Awaiting
from .budget import Budget
from .desk import Desk
from .ledger import Ledger, Receipt
from .loading import load
from .workdays import Calendar

__all__ = ["Audit", "Awaiting", "Budget", "Calendar", "Desk", "Ledger", "Receipt", "load"]
