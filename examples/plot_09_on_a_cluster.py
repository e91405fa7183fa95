"""
Comparing on a cluster
======================

A fair comparison takes many replications, and many replications take many machines. The same call runs on this machine,
on a Dask cluster and on a Ray cluster, and the numbers are the same to the last bit.
"""

import matplotlib.pyplot as plt
import numpy as np

import appletaste as at

entries = [at.policies.PolicySpec(name, {}) for name in ("voi", "ids", "ts", "ucb")]
problem = at.problem("synthetic", features=8, rounds=600, intercept=-2.0)


def compare(engine, **where):
    """Return the results of forty replications, played by an engine."""
    with at.engines.engine(engine, **where) as workers:
        return at.replicate(problem, entries, 40, seed=1, engine=workers)


# %%
# Without an address a small Dask cluster is started here, and ended after the run; ``address="HEAD:8786"`` names one
# that stands. Processes need ``if __name__ == "__main__"`` around the work, as always in Python.

if __name__ == "__main__":
    here, there = compare("local", jobs=1), compare("dask", jobs=2)
    for one, other in zip(here, there, strict=True):
        assert np.array_equal(one.curves, other.curves)  # to the last bit
        print(f"{one.entry.label:4} {one.final_regret.mean():6.2f}")

    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    axis.boxplot([one.final_regret for one in there], tick_labels=[one.entry.label for one in there])
    axis.set(ylabel="regret after 600 rounds", title="Forty replications on a Dask cluster")
    plt.show()
