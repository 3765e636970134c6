"""SQL in: `parse` reads a statement into the query tree.

The analyst's text never reaches an engine: what runs is made from the tree, which holds nodes of an allow-list only.
"""
