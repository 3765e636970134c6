"""Engines: what runs a `tacit.tables.bounded.BoundedQuery` over rows and returns integers, and nothing else.

Every engine has the same file names after its own: ``x.py`` (the engine), ``x_expressions.py`` (row-wise operators),
``x_bounding.py`` (the statement).
"""
