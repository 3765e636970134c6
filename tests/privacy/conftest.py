"""Property tests draw the same examples every time; set TACIT_EXAMPLES to search further."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=int(os.environ.get("TACIT_EXAMPLES", "100")))
settings.load_profile("search" if "TACIT_EXAMPLES" in os.environ else "same")
