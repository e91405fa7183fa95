"""What can be changed of a stream while it runs: its mode, its costs, its reviewers and its audits; each an event."""

from __future__ import annotations

from .._checks import check_text
from ..costs import SomeCosts
from ..errors import InputError, RecordError
from ..policies.items import usual_costs
from ..records.events import CostsChanged, ModeChanged, StaffingChanged
from .audit import Audit
from .budget import Budget, Calendar
from .desk import Desk, restaffed
from .looking import Looking
from .modes import SAFE, check_mode
from .staffing import Share, Staffing


class Changing(Looking):
    """The part of a ``Stream`` that changes how it goes on."""

    def set_mode(self, mode: str, *, by: str = "", reason: str = "") -> int:
        """Let another mode hold from now on; return the number of the event.

        A stream whose record does not verify stays in safe mode.
        """
        with self._alone:
            self._check_running()
            check_mode(mode)
            if self.trouble is not None and mode != SAFE:
                raise RecordError(
                    f"stream {self.name!r} stays in safe mode, because its record does not verify: {self.trouble}. "
                    "Restore a backup",
                    self.trouble.seq,
                )
            by, reason = check_text("a name", by), check_text("a reason", reason)
            seq = self._happen(ModeChanged(mode, by, reason, self._now()))
            self._settle()
            return seq

    def set_costs(self, costs: SomeCosts, *, by: str = "") -> int:
        """Let other costs be the usual ones from now on; return the number of the event."""
        with self._alone:
            self._check_running()
            if self._reader.sheet is not None:
                raise InputError("the costs of this stream are formulas over columns; they stay as they were created")
            changed = usual_costs(costs).outcomes()
            seq = self._happen(CostsChanged(changed, check_text("a name", by), self._now()))
            self._settle()
            return seq

    @property
    def budget(self) -> Budget | None:
        """How many acts there may be, as it is now; None: any number."""
        return self.player.budget if isinstance(self.player, Desk) else None

    @property
    def time_zone(self) -> str | None:
        """The time zone whose days a capacity is of; None: none was named, and days are those of UTC."""
        per_day = None if self.budget is None else self.budget.per_day
        return per_day.zone if isinstance(per_day, Calendar) else None

    @property
    def audit(self) -> Audit | None:
        """Which passes are audited, as it is now; None: none."""
        return self.player.audit if isinstance(self.player, Desk) else None

    def set_capacity(self, capacity: Share | Budget | None, *, time_zone: str | None = None, by: str = "") -> int:
        """Let other reviewers be there from now on, ``120/day`` or ``5%`` (None: any); return the number of the event.

        What was spent today, or in the window, of a budget before counts on. Days stay those of the time zone that they
        were of, unless another one is given.
        """
        if not (capacity is None or isinstance(capacity, Budget)):
            if time_zone is None and not str(capacity).replace(".", "", 1).removesuffix("%").isdigit():
                time_zone = self.time_zone
            found = Staffing.of(capacity, None, time_zone)
            assert found is not None
            capacity = found.budget
        if capacity is not None and capacity.per_day is not None and self._state.kind is float:
            raise InputError("a capacity per day needs dates, and the times of this stream are numbers: give a share")
        return self._restaff(capacity, self.audit, by)

    def set_audit(self, audit: Share | Audit | None, *, by: str = "") -> int:
        """Let another share of passes be audited from now on, ``2%`` say (None: none); return its number."""
        if not (audit is None or isinstance(audit, Audit)):
            found = Staffing.of(None, audit)
            assert found is not None
            audit = found.audit
        return self._restaff(self.budget, audit, by)

    def _restaff(self, budget: Budget | None, audit: Audit | None, by: str) -> int:
        with self._alone:
            self._check_running()
            restaffed(self.player, budget, audit)  # what is wrong is said before anything happens
            caps, lane = (None if one is None else one.settings() for one in (budget, audit))
            seq = self._happen(StaffingChanged(caps, lane, check_text("a name", by), self._now()))
            self._settle()
            return seq
