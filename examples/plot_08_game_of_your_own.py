"""
A game of your own: can learning pay?
=====================================

Apple tasting is one of many games in which an action costs something and shows something. Before you build anything,
ask of your own game whether its feedback is enough to learn from, and how fast regret must grow at the least. Write
down what each action costs and what each action shows, under each outcome.
"""

import matplotlib.pyplot as plt

import appletaste as at

# %%
# A clinic may treat at once, test first, or wait. Treating shows nothing, a test shows the illness and costs 2, waiting
# shows nothing either.

clinic = at.theory.Game(
    name="a clinic",
    actions=["wait", "test", "treat"],
    outcomes=["healthy", "ill"],
    loss=[[0, 10], [2, 3], [5, 1]],
    feedback=[["-", "-"], ["negative", "positive"], ["-", "-"]],
)
found = at.theory.analyse(clinic)
print(f"{found.game.name}: {found.class_}, regret grows like {found.rate}")

# %%
# Without the test nobody ever learns: the same game where the test is not offered.

blind = at.theory.Game(
    name="a clinic without a test",
    actions=["wait", "treat"],
    outcomes=["healthy", "ill"],
    loss=[[0, 10], [5, 1]],
    feedback=[["-", "-"], ["-", "-"]],
)
found = at.theory.analyse(blind)
print(f"{found.game.name}: {found.class_}, regret grows like {found.rate}")

# %%
# Where each action is best, by the share of patients who are ill. The lines are what each action costs on average.

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for action, (healthy, ill) in zip(clinic.actions, clinic.loss, strict=True):
    axis.plot([0, 1], [healthy, ill], label=action)
axis.set(xlabel="share of patients who are ill", ylabel="expected cost", title="What each action costs")
axis.legend(frameon=False)
plt.show()
