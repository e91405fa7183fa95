"""A small-cap desk beside one-sided logistic regression under the same cap, delay and audits."""
