"""Every mechanism with examples: how each is run, alone and many times at once, and inputs that should look alike.

What audits and contract suites work on. `registry.py` lists them; nothing that releases an answer uses this folder.
"""
