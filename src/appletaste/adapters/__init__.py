"""The manners of other libraries: scikit-learn, River, Gymnasium, ArviZ (docs/ecosystem.md).

Each module stands by itself and needs its own extra, ``pip install 'appletaste[river]'``; importing it without is an
error that says so.
"""
