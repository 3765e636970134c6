"""Which mechanism to use, what words mean, and what is left to do: computed without looking at any data."""

from __future__ import annotations

from importlib import import_module

_HOMES = {
    "tacit.advice.ranking": ("advise",),
    "tacit.advice.options": ("Advice", "LeftOut", "Option"),
    "tacit.advice.situations.numbers": ("Histogram", "Numbers"),
    "tacit.advice.situations.choices": ("Choice", "TopChoices"),
    "tacit.advice.situations.ranks": ("Ranks",),
    "tacit.advice.situations.thresholds": ("Thresholds",),
    "tacit.advice.situations.totals": ("RunningTotals",),
    "tacit.advice.situations.means": ("MeanSurvey",),
    "tacit.advice.situations.surveys": ("Survey",),
    "tacit.advice.situations.devices": ("DeviceSum",),
    "tacit.advice.situations.questions": ("TableQuestion",),
    "tacit.advice.situations.trust": ("CURATOR", "NOBODY", "SHUFFLER", "Trust"),
    "tacit.advice.words": ("explain",),
    "tacit.advice.steps": ("Checklist", "checklist"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'tacit.advice' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
