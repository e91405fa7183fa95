"""Where the trees of a stream are grown: at once, or beside the stream, which decides on meanwhile."""

from __future__ import annotations

import warnings
from threading import Thread

from ..policies.trees import Fitting, Found, TreesLearner


class Nursery:
    """Fits trees when they are due; one that is in use beside decisions fits them in a thread.

    Trees that were grown in a thread are given out at the first label after. Labels that came meanwhile they have not
    seen; if one that they have seen was changed or forgotten meanwhile, others are grown.
    """

    def __init__(self) -> None:
        #: Whether trees are grown in a thread; otherwise whoever labels waits for them.
        self.beside = False
        self._thread: Thread | None = None
        self._found: Found | None = None
        #: Why no more are grown; None: they are.
        self.error: Exception | None = None

    def after_label(self, learner: TreesLearner | None) -> Found | None:
        """Return trees to be adopted after a label was learnt, or that there are to be none; None: nothing is new."""
        if learner is None:
            return None
        if self._thread is not None:
            if self._thread.is_alive():
                return None
            self._thread, found, self._found = None, self._found, None
            if found is not None and learner.is_current(found):
                return found
        if self.error is not None or not learner.due:
            return None
        fitting = learner.fitting()
        if self.beside:
            self._thread = Thread(target=self._grow, args=(fitting,), name="appletaste trees", daemon=True)
            self._thread.start()
            return None
        self._grow(fitting)
        return self._found

    def _grow(self, fitting: Fitting) -> None:
        self._found = None
        try:
            self._found = fitting.run()
        except Exception as error:  # of the library: the stream goes on with what it has
            self.error = error
            warnings.warn(f"no more trees are grown until the stream is opened again: {error}", stacklevel=2)

    def wait(self) -> None:
        """Wait until the trees that are being grown are."""
        if self._thread is not None:
            self._thread.join()
