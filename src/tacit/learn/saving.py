"""Models as files: one zip with a JSON and plain arrays; nothing in it is ever executed."""

from __future__ import annotations

import io
import json
import zipfile
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np

from tacit.errors import InvalidParameter
from tacit.learn.estimators.registry import ESTIMATORS
from tacit.learn.reading.schema import Schema
from tacit.privacy.promise import Promise
from tacit.version import VERSION

__all__ = ["load", "write_model"]

FORMAT = 1
_KINDS = {"f", "i", "u", "b"}
_LARGEST = 1 << 30  # no model is of a gigabyte: a file that says so is not read


def write_model(path: str | Path | IO[bytes], kind: str, params: dict[str, Any], fitted: dict[str, Any]) -> None:
    """Write an estimator's parameters and what it learned."""
    arrays: dict[str, Any] = {}
    written = {name: _flat(value, f"{name}", arrays) for name, value in fitted.items()}
    model = {
        "format": FORMAT,
        "tacit": VERSION,
        "kind": kind,
        "params": {name: _flat(value, f"param.{name}", arrays) for name, value in params.items()},
        "fitted": written,
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("model.json", json.dumps(model, indent=1))
        for name, array in arrays.items():
            held = io.BytesIO()
            np.save(held, array, allow_pickle=False)
            file.writestr(f"{name}.npy", held.getvalue())


def load(path: str | Path | IO[bytes]) -> Any:
    """The estimator that was saved: fitted, with its promise and its disclosure.

    >>> load("nowhere.model")
    Traceback (most recent call last):
    ...
    tacit.errors.InvalidParameter: path: given 'nowhere.model'; allowed: a model written by .save(path).
    """
    refused = InvalidParameter("path", given=str(path), allowed="a model written by .save(path)")
    try:
        with zipfile.ZipFile(path) as file:
            if sum(one.file_size for one in file.infolist()) > _LARGEST:
                raise refused
            model = json.loads(file.read("model.json"))
            arrays = {
                name.removesuffix(".npy"): np.load(io.BytesIO(file.read(name)), allow_pickle=False)
                for name in file.namelist()
                if name.endswith(".npy")
            }
        path_of = ESTIMATORS.get(str(model["kind"]))
        if model["format"] != FORMAT or path_of is None:
            raise refused
        home, _, name = path_of.rpartition(".")
        made = getattr(import_module(home), name)(**{k: _full(v, arrays) for k, v in model["params"].items()})
        for name, value in model["fitted"].items():
            setattr(made, name, _full(value, arrays))
    except (OSError, KeyError, ValueError, TypeError, AttributeError, zipfile.BadZipFile):
        raise refused from None
    return made


def _flat(value: Any, where: str, arrays: dict[str, Any]) -> Any:
    """JSON for a value; arrays of numbers go beside it."""
    if isinstance(value, np.ndarray) and value.dtype.kind in _KINDS:
        arrays[where] = value
        return {"array": where}
    if isinstance(value, np.ndarray):
        text = value.dtype.kind == "U"
        return {
            "texts" if text else "objects": [_flat(v, f"{where}.{i}", arrays) for i, v in enumerate(value.tolist())]
        }
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Promise):
        return {"promise": value.to_dict()}
    if isinstance(value, Fraction | Decimal):
        return {"fraction" if isinstance(value, Fraction) else "decimal": str(value)}
    if isinstance(value, Schema):
        return {"schema": value.to_dict()}
    if isinstance(value, dict):
        return {"mapping": [[_flat(k, where, arrays), _flat(v, f"{where}.{k}", arrays)] for k, v in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [_flat(v, f"{where}.{i}", arrays) for i, v in enumerate(value)]}
    if isinstance(value, list):
        return [_flat(v, f"{where}.{i}", arrays) for i, v in enumerate(value)]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InvalidParameter("model", given=type(value).__name__, allowed="numbers, texts, lists and arrays of them")


def _full(value: Any, arrays: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_full(v, arrays) for v in value]
    if not isinstance(value, dict):
        return value
    ((kind, held),) = value.items()
    return _READERS[kind](held, arrays)


_READERS: dict[str, Any] = {
    "array": lambda held, arrays: arrays[held],
    "texts": lambda held, arrays: np.array(held, dtype=str),
    "objects": lambda held, arrays: np.array([_full(v, arrays) for v in held], dtype=object),
    "promise": lambda held, arrays: Promise.from_dict(held),
    "fraction": lambda held, arrays: Fraction(held),
    "decimal": lambda held, arrays: Decimal(held),
    "schema": lambda held, arrays: Schema.from_dict(held),
    "mapping": lambda held, arrays: {_full(k, arrays): _full(v, arrays) for k, v in held},
    "tuple": lambda held, arrays: tuple(_full(v, arrays) for v in held),
}
