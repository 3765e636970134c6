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
    "tacit.ledger.postgres": ("PostgresLedger",),
    "tacit.mechanisms.above_threshold": ("AboveThreshold",),
    "tacit.mechanisms.bounded_laplace": ("BoundedLaplace",),
    "tacit.mechanisms.clamped_laplace": ("ClampedLaplace",),
    "tacit.mechanisms.continual_count": ("ContinualCount",),
    "tacit.mechanisms.discrete_gaussian": ("DiscreteGaussian",),
    "tacit.mechanisms.discrete_laplace": ("DiscreteLaplace",),
    "tacit.mechanisms.exponential": ("Exponential",),
    "tacit.mechanisms.factorisations": ("BINARY_TREE", "SQUARE_ROOT"),
    "tacit.mechanisms.gaussian": ("Gaussian",),
    "tacit.mechanisms.gaussian_threshold": ("GaussianAboveThreshold",),
    "tacit.mechanisms.laplace": ("Laplace",),
    "tacit.mechanisms.naive_threshold": ("NaiveThreshold",),
    "tacit.mechanisms.noisy_max": ("EXPONENTIAL", "GUMBEL", "LAPLACE", "NoisyMax"),
    "tacit.mechanisms.numeric_sparse": ("NumericSparse",),
    "tacit.mechanisms.one_sided": ("OneSidedExponential",),
    "tacit.mechanisms.permute_and_flip": ("PermuteAndFlip",),
    "tacit.mechanisms.private_selection": ("GEOMETRIC", "LOGARITHMIC", "PrivateSelection"),
    "tacit.mechanisms.propose_test_release": ("ProposeTestRelease",),
    "tacit.mechanisms.quantile": ("Quantile",),
    "tacit.mechanisms.quantiles": ("Quantiles",),
    "tacit.mechanisms.randomized_response": ("RandomizedResponse",),
    "tacit.mechanisms.sample_and_aggregate": ("SampleAndAggregate",),
    "tacit.mechanisms.smooth_median": ("SmoothMedian",),
    "tacit.mechanisms.sparse_vector": ("SparseVector",),
    "tacit.mechanisms.splits": ("BOOK", "IMPROVED"),
    "tacit.mechanisms.staircase": ("Staircase",),
    "tacit.mechanisms.top_k": ("TopK",),
    "tacit.mechanisms.truncated_laplace": ("TruncatedLaplace",),
    "tacit.mechanisms.key_selection": ("GaussianKeySelection", "OptimalKeySelection"),
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
