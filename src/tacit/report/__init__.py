"""Renderers of released answers and of what must be said about them: text, HTML, JSON, frames, files.

Layer 1: plain values in, documents out. Nothing here knows where a number came from, and nothing here is private: only
what has been released may be put into a `columns.Column` or a `disclosure.Disclosure`.
"""
