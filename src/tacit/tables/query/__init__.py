"""The frozen tree that SQL and Python both build, its canonical form and text, and the rules for making one."""
