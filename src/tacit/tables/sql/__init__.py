"""SQL in and out: `parse` reads a statement into the query tree, `printing` writes the tree as canonical SQL.

The analyst's text never reaches an engine: what runs is made from the tree, which holds nodes of an allow-list only.
"""
