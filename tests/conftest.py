"""Property tests draw the same examples every time, however slow the machine; set TACIT_EXAMPLES to search further."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", patient, derandomize=True)
settings.register_profile("search", patient, max_examples=int(os.environ.get("TACIT_EXAMPLES", "100")))
settings.load_profile("search" if "TACIT_EXAMPLES" in os.environ else "same")
