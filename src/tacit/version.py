"""The version, written here alone: the build reads it from this file.

Not looked up among the installed distributions: ours is called ``tacit-dp``, and ``tacit`` there is somebody else's.
"""

from __future__ import annotations

__all__ = ["DISTRIBUTION", "VERSION"]

VERSION = "0.1.0"
DISTRIBUTION = "tacit-dp"
"""What to ask the package index for; the import and the command are ``tacit``."""
