"""What is typed for an audit: claims, inputs, modules."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from tacit.auditing.neighbours import Answers, Numbers
from tacit.errors import InvalidParameter, TacitError
from tacit.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP

__all__ = ["attribute", "module", "read_claim", "read_input", "read_inputs"]

_CLAIMS: dict[str, tuple[Callable[..., Any], int]] = {
    "pure": (PureDP, 1),
    "approx": (ApproxDP, 2),
    "zcdp": (ZCDP, 1),
    "gdp": (GaussianDP, 1),
    "renyi": (RenyiDP, 2),
}


def read_inputs(written: str, sensitivity: int | float) -> Any:
    """ "numbers", "floats", "answers 10", "histogram 10": what inputs look like."""
    kind, *count = written.split() or [""]
    length = int(count[0]) if len(count) == 1 and count[0].isdigit() else 10
    if kind == "numbers" and not count:
        return Numbers(sensitivity)
    if kind == "floats" and not count:
        return Numbers(sensitivity, whole=False)
    if kind in ("answers", "histogram") and len(count) <= 1:
        return Answers(length, sensitivity, all_move=kind == "answers")
    allowed = '"numbers", "floats", "answers 10" (each moves) or "histogram 10" (one moves)'
    raise InvalidParameter("--inputs", given=written, allowed=allowed)


def read_claim(written: str) -> Any:
    """ "pure 1" and the like."""
    kind, *numbers = written.replace(",", " ").split() or [""]
    make, count = _CLAIMS.get(kind.lower(), (None, 0))
    if make is None or len(numbers) != count:
        allowed = '"pure ε", "approx ε δ", "zcdp ρ", "gdp μ" or "renyi α ε"'
        raise InvalidParameter("--claim", given=written, allowed=allowed)
    return make(*numbers)


def read_input(written: str) -> Any:
    """A neighbour: JSON, or an attribute of a module."""
    try:
        return json.loads(written)
    except ValueError:
        home, colon, name = written.partition(":")
        if not colon:
            raise InvalidParameter("--neighbours", given=written, allowed="JSON, or module:name") from None
        return attribute(module(home), home, name)


def attribute(home: Any, module: str, name: str) -> Any:
    """A name of a module, dots and all."""
    found = home
    for part in name.split("."):
        if not hasattr(found, part):
            raise InvalidParameter(f"{module}:{name}", given=name, allowed=f"a name that {module} has")
        found = getattr(found, part)
    return found


def module(name: str) -> Any:
    """A module, looked for from the current directory."""
    with _current_directory_first():
        try:
            return import_module(name)
        except TacitError:
            raise
        except (Exception, SystemExit) as error:  # a module may do anything while it loads
            given = f"{name} ({type(error).__name__}: {error})"
            allowed = "a module that can be imported from the current directory"
            raise InvalidParameter("MODULE", given=given, allowed=allowed) from None


@contextmanager
def _current_directory_first() -> Iterator[None]:
    """As `python -m` does; undone when the module has loaded."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)
