"""
Rare fraud, and labels that arrive weeks late
=============================================

A web shop knows one to three weeks after an order whether the order was fraud, and only where somebody held the order
back to check. We play two months of made-up orders as they came, and ask what the wait costs.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import appletaste as at

orders = Path(tempfile.mkdtemp()) / "orders.csv"
at.problems.write_orders(orders, rows=12_000)

# %%
# Costs are formulas over columns. A fraud that slips through costs nine tenths of the amount, and 15 for the paperwork.
# A check costs 4, and 2 more where an honest customer has to wait.

costs = {"miss": "amount*0.9+15", "false_alarm": 6, "hit": 4}
common = {"costs": costs, "time": "placed_at", "seed": 1}

# %%
# ``label_time`` names the column that says when each label arrived. Without that column labels arrive at once, which no
# shop has.

late = at.replay(orders, "fraud", label_time="settled_on", drop=["order", "reviewed"], **common)
at_once = at.replay(orders, "fraud", drop=["order", "reviewed", "settled_on"], **common)
print(late)

# %%
# Money saved so far, against doing nothing. Late labels put the learning off by about their delay. What is learnt in
# the end is the same.

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for result, label in ((at_once, "labels at once"), (late, "labels one to three weeks late")):
    saved = result["never"].curves - result["voi"].curves
    axis.plot(result.points, saved.mean(axis=0), label=label)
axis.set(xlabel="orders", ylabel="saved so far", title="What waiting for labels costs")
axis.legend(frameon=False)
plt.show()
