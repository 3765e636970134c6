"""Scalar expressions: the tree, kinds of values, the operators, ranges, and evaluation of released values."""
