"""How the score of one item is distributed: as a normal, a mixture, draws, or the steps of a chain."""
