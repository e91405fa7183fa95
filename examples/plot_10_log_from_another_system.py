"""
A log from another system
=========================

You already have something that decides, and a table of what it did. If some acts were drawn by lot, with probabilities
that are on record, the table can say how many positives were missed and what another threshold would have cost. Nothing
of appletaste needs to have been there at the time.
"""

import matplotlib.pyplot as plt
import numpy as np

import appletaste as at

# %%
# Here is such a table: a score, and a rule that blocks from 0.4 on and looks into 3 % of the rest by lot.

rng = np.random.default_rng(6)
n = 20_000
score = rng.beta(1, 12, n)
bad = rng.random(n) < score**1.1
drawn = np.where(score >= 0.4, 1.0, 0.03)
looked = rng.random(n) < drawn
cases = {
    "case": np.arange(n).astype(str),
    "risk": score,
    "p_look": drawn,
    "looked": looked,
    "was_bad": np.where(looked, bad, -1),
}

# %%
# Say which column is which, and what outcomes cost. Whatever cannot be right is refused, with the row.

named = {"id": "case", "act": "looked", "probability": "p_look", "chance": "risk", "label": "was_bad"}
columns = {field: cases[column] for field, column in named.items()}
columns |= {"miss": np.full(n, 20.0), "false_alarm": np.full(n, 1.0), "hit": np.full(n, 1.0)}
columns["state"] = np.where(looked, "observed", "never_due")
log = at.DecisionLog.from_columns(columns)
print(at.missed(log))
print(f"the truth, which the table does not hold: {int((bad & ~looked).sum())} missed")

# %%
# What other thresholds would have cost, from the log alone. Where the log holds too little to say, the answer is a
# refusal with the reason, and no number.

savings = {cut: at.what_if(log, cut).saving for cut in (0.05, 0.1, 0.15, 0.2, 0.3)}
print(savings[0.3])

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for cut, saving in savings.items():
    if saving:  # a refusal is false
        axis.errorbar(cut, saving.value, [[saving.value - saving.low], [saving.high - saving.value]], fmt="oC0")
    else:
        axis.annotate("no answer", (cut, 0), (0, 6), textcoords="offset points", ha="center", color="0.4")
axis.axhline(0, color="0.6", linewidth=1)
axis.set(
    xlabel="look from this risk on", ylabel="saved against what was done", title="What other thresholds would save"
)
plt.show()
