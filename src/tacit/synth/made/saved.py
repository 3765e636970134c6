"""A model as bytes: a zip of one JSON text and plain arrays. Nothing in it is code, and reading runs none."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import InvalidParameter
from tacit.privacy import Guarantee
from tacit.synth.counts.coarsening import Coarse
from tacit.synth.counts.purse import Measured
from tacit.synth.domain.domain import Domain
from tacit.synth.made.synthesis import Synthesis
from tacit.synth.models.graph import GraphModel
from tacit.synth.models.junction import JunctionTree
from tacit.synth.models.mixture import Mixture
from tacit.synth.models.model import Model

__all__ = ["from_bytes", "load", "to_bytes"]

_FORMAT = "tacit synthesis 2"
_MOMENT = (1980, 1, 1, 0, 0, 0)
_MOST = 4_000_000_000


def to_bytes(made: Synthesis) -> bytes:
    """The whole model; equal models give equal bytes."""
    arrays: dict[str, Any] = {}
    about = {
        "format": _FORMAT,
        "domain": made.domain.to_dict(),
        "guarantee": made.guarantee.to_dict(),
        "method": made.method,
        "total": made.total,
        "total_scale": made.total_scale,
        "looks": made.looks,
        "notes": list(made.notes),
        "ones": _tables(made.ones, "one", arrays),
        "tables": _tables(made.tables, "table", arrays),
        "model": _model(made.model, arrays),
    }
    for at, one in enumerate(made.binned):
        arrays[f"shares{at}"], arrays[f"bins{at}"], arrays[f"within{at}"] = one.shares, one.bins, one.within
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        _put(archive, "about.json", json.dumps(about, sort_keys=True).encode())
        for name, array in arrays.items():
            one_file = io.BytesIO()
            np.save(one_file, array, allow_pickle=False)
            _put(archive, f"{name}.npy", one_file.getvalue())
    return out.getvalue()


def load(path: str | Path) -> Synthesis:
    """The model that `Synthesis.save` wrote."""
    try:
        written = Path(path).read_bytes()
    except OSError:
        written = None
    if written is None:
        raise InvalidParameter("model", given=str(path), allowed="a file that can be read, as Synthesis.save wrote it")
    return from_bytes(written)


def from_bytes(written: bytes) -> Synthesis:
    """The model that `to_bytes` wrote; refuses anything else."""
    try:
        with zipfile.ZipFile(io.BytesIO(written)) as archive:
            if sum(one.file_size for one in archive.infolist()) > _MOST:
                raise ValueError
            about = json.loads(archive.read("about.json"))
            arrays = {
                one.filename.removesuffix(".npy"): np.load(io.BytesIO(archive.read(one)), allow_pickle=False)
                for one in archive.infolist()
                if one.filename.endswith(".npy")
            }
        return _read(about, arrays)
    except (ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile, EOFError, NotImplementedError):
        pass
    raise InvalidParameter("model", given="a file of another kind", allowed="a file that Synthesis.save wrote")


def _read(about: dict[str, Any], arrays: dict[str, Any]) -> Synthesis:
    if about["format"] != _FORMAT:
        raise ValueError
    domain = Domain.from_dict(about["domain"])
    sizes = domain.measured().sizes
    binned = tuple(
        Coarse(arrays[f"shares{at}"], arrays[f"bins{at}"], arrays[f"within{at}"]) for at in range(len(sizes))
    )
    if any(one.bins.shape != (size,) or one.within.shape != (size,) for one, size in zip(binned, sizes, strict=True)):
        raise ValueError
    return Synthesis(
        domain,
        Guarantee.from_dict(about["guarantee"]),
        str(about["method"]),
        _measured(about["ones"], "one", arrays),
        float(about["total"]),
        float(about["total_scale"]),
        binned,
        _measured(about["tables"], "table", arrays),
        _read_model(about["model"], arrays),
        int(about["looks"]),
        tuple(about["notes"]),
    )


def _tables(tables: Sequence[Measured], kind: str, arrays: dict[str, Any]) -> list[dict[str, Any]]:
    for at, one in enumerate(tables):
        arrays[f"{kind}{at}"] = one.counts
    return [{"columns": list(one.columns), "scale": one.scale, "look": one.look} for one in tables]


def _measured(listed: Sequence[dict[str, Any]], kind: str, arrays: dict[str, Any]) -> tuple[Measured, ...]:
    return tuple(
        Measured(tuple(one["columns"]), arrays[f"{kind}{at}"], float(one["scale"]), int(one["look"]))
        for at, one in enumerate(listed)
    )


def _model(model: Model, arrays: dict[str, Any]) -> dict[str, Any]:
    fit = {"steps": model.steps, "converged": model.converged, "misfit": model.misfit}
    if isinstance(model, Mixture):
        for at, law in enumerate(model.laws):
            arrays[f"law{at}"] = law.astype(np.float32) if np.array_equal(law, law.astype(np.float32)) else law
        arrays["weights"] = model.weights
        return {"kind": "mixture", "columns": len(model.laws), **fit}
    assert isinstance(model, GraphModel)
    for at, factor in enumerate(model.potentials):
        arrays[f"factor{at}"] = factor
    tree = model.tree
    return {
        "kind": "graph",
        "sizes": list(tree.sizes),
        "cliques": [list(one) for one in tree.cliques],
        "parents": list(tree.parents),
        "shared": [list(one) for one in tree.shared],
        **fit,
    }


def _read_model(about: dict[str, Any], arrays: dict[str, Any]) -> Model:
    fit = int(about["steps"]), bool(about["converged"]), float(about["misfit"])
    if about["kind"] == "mixture":
        laws = tuple(arrays[f"law{at}"].astype(np.float64) for at in range(about["columns"]))
        return Mixture(laws, arrays["weights"], fit[0], fit[2], fit[1])
    cliques = tuple(tuple(one) for one in about["cliques"])
    shared = tuple(tuple(one) for one in about["shared"])
    tree = JunctionTree(tuple(about["sizes"]), cliques, tuple(about["parents"]), shared)
    factors = tuple(arrays[f"factor{at}"] for at in range(len(cliques)))
    logs, _ = tree.marginals(factors)
    return GraphModel(tree, factors, tuple(logs), *fit)


def _put(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    about = zipfile.ZipInfo(name, _MOMENT)
    about.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(about, content)
