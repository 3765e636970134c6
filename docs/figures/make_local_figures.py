"""The figure of docs/guides/local.md. No chance is involved. `make_figures.py` draws it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.local.simulation import errors_of_models
from tacit.plots.models import errors_by_model

DELTA = 1e-6
PEOPLE = [300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
EPSILONS = [0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0]


def models() -> Any:
    """Standard errors of a count by curator, shuffler and local response."""
    names = ("central", "shuffle", "local")
    by_people = np.array(errors_of_models([(n, 1.0) for n in PEOPLE], DELTA)).T
    by_epsilon = np.array(errors_of_models([(100_000, epsilon) for epsilon in EPSILONS], DELTA)).T
    return errors_by_model(
        PEOPLE,
        dict(zip(names, by_people.tolist(), strict=True)),
        EPSILONS,
        dict(zip(names, by_epsilon.tolist(), strict=True)),
        titles=("ε = 1, δ = 10⁻⁶", "100,000 people, δ = 10⁻⁶"),
    )


FIGURES = {"local_models": models}
