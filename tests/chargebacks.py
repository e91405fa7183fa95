"""Logs with labels of passes: audits by lot, and reports that come late for some of the positives that were passed."""

import numpy as np

import appletaste as at

MONTH = 30.0
#: The month that is asked about, the last of all.
MONTHS = 12
SINCE = MONTH * (MONTHS - 1)


def reported_log(rng, *, items=5000, positives=0.01, audit=0.05, rate=0.6, late=10.0, denied=0.0, recent_rate=None,
                 amounts=False):  # fmt: skip
    """Return a log of twelve months, so many items each; times are in days.

    A passed positive is reported with the chance ``rate`` (``recent_rate`` in the last month), ``late`` days later on
    average, and a passed negative with the chance ``denied``. What is likely to be positive is acted on for certain.
    """
    n = items * MONTHS
    time = np.sort(rng.uniform(0.0, MONTH * MONTHS, n))
    chance = np.clip(positives * np.exp(rng.normal(-0.5, 1.0, n)), 0.0, 0.9)
    label = (rng.random(n) < chance).astype(np.int8)
    p = np.where(chance > 0.05, 1.0, audit)
    act = rng.random(n) < p
    of_positives = np.where((recent_rate is not None) & (time > SINCE), recent_rate or 0.0, rate)
    told = time + rng.exponential(late, n)
    comes = rng.random(n) < np.where(label == 1, of_positives, denied)
    there = ~act & comes & (told < MONTH * MONTHS)
    return at.DecisionLog.from_columns(
        {
            "id": np.arange(n), "act": act, "probability": p, "chance": chance, "time": time, "truth": label,
            "label": np.where(act, label, -1), "state": np.where(act, "observed", "never_due"),
            "label_time": np.where(act, time, np.nan), "audit": act & (p < 1.0),
            "miss": np.exp(rng.normal(3.0, 1.0, n)) if amounts else np.full(n, 5.0),
            "false_alarm": np.ones(n), "hit": np.zeros(n),
            "report": np.where(there, label, -1), "report_time": np.where(there, told, np.nan),
        }
    )  # fmt: skip
