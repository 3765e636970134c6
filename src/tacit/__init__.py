"""Tacit: differential privacy you can point at a table.

Names load when they are first used, so that ``import tacit`` costs next to nothing. ``__init__.pyi`` lists them for
editors and type checkers.
"""

from __future__ import annotations

from importlib import import_module

_HOMES = {
    "tacit.errors": (
        "AccountLocked",
        "AnswerLost",
        "BudgetExceeded",
        "Exhausted",
        "InvalidParameter",
        "LedgerError",
        "MissingBounds",
        "MissingPackage",
        "NotPrivate",
        "PolicyError",
        "TacitError",
        "UnknownColumn",
    ),
    "tacit.privacy": (
        "ADD_REMOVE",
        "NOTHING_SPENT",
        "REPLACE",
        "ROW",
        "ZCDP",
        "ApproxDP",
        "Composition",
        "GaussianDP",
        "Guarantee",
        "L1",
        "L2",
        "LInf",
        "Neighbours",
        "PureDP",
        "RenyiDP",
        "Sensitivity",
        "Unit",
        "compose",
    ),
    "tacit.privacy.calibration": ("calibrate",),
    "tacit.privacy.filters": ("Filter", "LastingFilter", "OrderFilter"),
    "tacit.privacy.loss_distribution": ("LossDistribution",),
    "tacit.advice.ranking": ("advise",),
    "tacit.auditing.audit": ("audit",),
    "tacit.auditing.exact": ("audit_exact",),
    "tacit.auditing.result": ("AuditResult",),
    "tacit.ledger": ("InMemory", "Receipt", "Request", "SqliteLedger", "Terms"),
    "tacit.ledger.postgres.ledger": ("PostgresLedger",),
    "tacit.mechanisms.streams.above_threshold": ("AboveThreshold",),
    "tacit.mechanisms.additive.bounded_laplace": ("BoundedLaplace",),
    "tacit.mechanisms.additive.clamped_laplace": ("ClampedLaplace",),
    "tacit.mechanisms.streams.continual_count": ("ContinualCount",),
    "tacit.mechanisms.additive.discrete_gaussian": ("DiscreteGaussian",),
    "tacit.mechanisms.additive.discrete_laplace": ("DiscreteLaplace",),
    "tacit.mechanisms.selection.exponential": ("Exponential",),
    "tacit.mechanisms.streams.factorisations": ("BINARY_TREE", "SQUARE_ROOT"),
    "tacit.mechanisms.additive.gaussian": ("Gaussian",),
    "tacit.mechanisms.streams.gaussian_threshold": ("GaussianAboveThreshold",),
    "tacit.mechanisms.additive.laplace": ("Laplace",),
    "tacit.mechanisms.streams.naive_threshold": ("NaiveThreshold",),
    "tacit.mechanisms.selection.noisy_max": ("EXPONENTIAL", "GUMBEL", "LAPLACE", "NoisyMax"),
    "tacit.mechanisms.streams.numeric_sparse": ("NumericSparse",),
    "tacit.mechanisms.additive.one_sided": ("OneSidedExponential",),
    "tacit.mechanisms.selection.permute_and_flip": ("PermuteAndFlip",),
    "tacit.mechanisms.selection.private_selection": ("GEOMETRIC", "LOGARITHMIC", "PrivateSelection"),
    "tacit.mechanisms.ranks.propose_test_release": ("ProposeTestRelease",),
    "tacit.mechanisms.ranks.quantile": ("Quantile",),
    "tacit.mechanisms.ranks.quantiles": ("Quantiles",),
    "tacit.mechanisms.responses.randomized_response": ("RandomizedResponse",),
    "tacit.mechanisms.ranks.sample_and_aggregate": ("SampleAndAggregate",),
    "tacit.mechanisms.ranks.smooth_median": ("SmoothMedian",),
    "tacit.mechanisms.streams.sparse_vector": ("SparseVector",),
    "tacit.mechanisms.streams.splits": ("BOOK", "IMPROVED"),
    "tacit.mechanisms.additive.staircase": ("Staircase",),
    "tacit.mechanisms.selection.top_k": ("TopK",),
    "tacit.mechanisms.additive.truncated_laplace": ("TruncatedLaplace",),
    "tacit.mechanisms.selection.key_selection": ("GaussianKeySelection", "OptimalKeySelection"),
    "tacit.noise.entropy": ("Entropy",),
    "tacit.remote.connect": ("connect",),
    "tacit.tables.release.answer": ("Answer",),
    "tacit.tables.python.aggregates": (
        "correlation",
        "count",
        "count_distinct",
        "count_units",
        "covariance",
        "covariance_pop",
        "geometric_mean",
        "max",
        "mean",
        "median",
        "min",
        "mode",
        "quantile",
        "quantiles",
        "stddev",
        "stddev_pop",
        "sum",
        "top",
        "top_k",
        "variance",
        "variance_pop",
    ),
    "tacit.tables.python.group_terms": ("cube", "grouping_sets", "rollup"),
    "tacit.tables.python.later": ("dense_rank", "lag", "lead", "rank", "row_number"),
    "tacit.tables.session.open": ("open",),
    "tacit.tables.plan.plan": ("Plan",),
    "tacit.tables.policy.policy": ("Policy",),
    "tacit.tables.session.table": ("Question", "Table"),
    "tacit.tables.python.columns": ("col", "greatest", "least", "lit", "when"),
    "tacit.work.limits": ("Work",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = {
    "advice": "tacit.advice",
    "amplify": "tacit.privacy.amplification",
    "anonymity": "tacit.anonymity",
    "auditing": "tacit.auditing",
    "errors": "tacit.errors",
    "games": "tacit.games",
    "learn": "tacit.learn",
    "ledger": "tacit.ledger",
    "local": "tacit.local",
    "mechanisms": "tacit.mechanisms",
    "noise": "tacit.noise",
    "plots": "tacit.plots",
    "privacy": "tacit.privacy",
    "synth": "tacit.synth",
    "tables": "tacit.tables",
    "testing": "tacit.testing",
}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> object:
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
    elif name in _MODULES:
        value = import_module(_MODULES[name])
    elif name == "load_ipython_extension":  # what %load_ext tacit calls
        value = import_module("tacit.notebook").load_ipython_extension
    elif name == "__version__":
        value = import_module("tacit.version").VERSION
    else:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES, "__version__"})
