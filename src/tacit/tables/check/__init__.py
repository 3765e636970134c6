"""A query against a policy: names, types, ranges, public values, and which rows it may see."""
