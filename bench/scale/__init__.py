"""How cost grows: with the number of labels, with the number of features, over cores."""
