"""How each library is asked for the same noise. Every function builds a mechanism and returns its draw.

Laplace noise has scale 2 (ε = 0.5, sensitivity 1) and Gaussian noise σ = 2 (ρ = 1/8); diffprivlib and
python-dp only take (ε, δ) for the Gaussian, which gives them another σ at the same cost.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from peers import load

Draw = Callable[[Any], Any]
SCALE = 2.0
EPSILON = 0.5
RHO = 0.125
COARSE = -40  # OpenDP's lattice of 2^-40: the default, 2^-1074, is finer than any use needs and slower


# Tacit


def tacit_laplace() -> Draw:
    return load("tacit").Laplace(epsilon=EPSILON, sensitivity=1).release


def tacit_discrete_laplace() -> Draw:
    return load("tacit").DiscreteLaplace(epsilon=EPSILON, sensitivity=1).release


def tacit_gaussian() -> Draw:
    return load("tacit").Gaussian(rho=RHO, sensitivity=1).release


def tacit_discrete_gaussian() -> Draw:
    return load("tacit").DiscreteGaussian(rho=RHO, sensitivity=1).release


# numpy: the floor, without a promise


def numpy_laplace_added() -> Draw:
    generator = np.random.default_rng()
    return lambda values: values + generator.laplace(0.0, SCALE, np.shape(values))


def numpy_gaussian_added() -> Draw:
    generator = np.random.default_rng()
    return lambda values: values + generator.normal(0.0, SCALE, np.shape(values))


def numpy_laplace() -> Draw:
    generator = np.random.default_rng()
    return lambda values: generator.laplace(0.0, SCALE, np.shape(values))


def numpy_gaussian() -> Draw:
    generator = np.random.default_rng()
    return lambda values: generator.normal(0.0, SCALE, np.shape(values))


def numpy_laplace_rounded() -> Draw:
    draw = numpy_laplace()
    return lambda values: values + np.rint(draw(values)).astype(np.int64)


def numpy_gaussian_rounded() -> Draw:
    draw = numpy_gaussian()
    return lambda values: values + np.rint(draw(values)).astype(np.int64)


def numpy_one_laplace() -> Draw:
    generator = np.random.default_rng()
    return lambda value: value + generator.laplace(0.0, SCALE)


def numpy_one_gaussian() -> Draw:
    generator = np.random.default_rng()
    return lambda value: value + generator.normal(0.0, SCALE)


# OpenDP


@cache
def _opendp() -> Any:
    dp = load("opendp.prelude")
    dp.enable_features("contrib")
    return dp


def _reals(dp: Any, size: int | None = None) -> Any:
    return dp.vector_domain(dp.atom_domain(T="f64", nan=False), size=size)


def _integers(dp: Any) -> Any:
    return dp.vector_domain(dp.atom_domain(T="i64"))


def opendp_laplace() -> Draw:
    dp = _opendp()
    return dp.m.make_laplace(_reals(dp), dp.l1_distance(T="f64"), scale=SCALE)


def opendp_gaussian() -> Draw:
    dp = _opendp()
    return dp.m.make_gaussian(_reals(dp), dp.l2_distance(T="f64"), scale=SCALE)


def opendp_coarse_laplace(size: int) -> Draw:
    dp = _opendp()
    space = _reals(dp, size), dp.l1_distance(T="f64")
    return dp.m.make_laplace(*space, scale=SCALE, k=COARSE)


def opendp_coarse_gaussian(size: int) -> Draw:
    dp = _opendp()
    space = _reals(dp, size), dp.l2_distance(T="f64")
    return dp.m.make_gaussian(*space, scale=SCALE, k=COARSE)


def opendp_discrete_laplace() -> Draw:
    dp = _opendp()
    return dp.m.make_laplace(_integers(dp), dp.l1_distance(T="i64"), scale=SCALE)


def opendp_discrete_gaussian() -> Draw:
    dp = _opendp()
    return dp.m.make_gaussian(_integers(dp), dp.l2_distance(T="f64"), scale=SCALE)


def opendp_one_laplace() -> Draw:
    dp = _opendp()
    space = dp.atom_domain(T="f64", nan=False), dp.absolute_distance(T="f64")
    return dp.m.make_laplace(*space, scale=SCALE)


def opendp_one_gaussian() -> Draw:
    dp = _opendp()
    space = dp.atom_domain(T="f64", nan=False), dp.absolute_distance(T="f64")
    return dp.m.make_gaussian(*space, scale=SCALE)


def opendp_one_discrete_laplace() -> Draw:
    dp = _opendp()
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    return dp.m.make_laplace(*space, scale=SCALE)


def opendp_one_discrete_gaussian() -> Draw:
    dp = _opendp()
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="f64")
    return dp.m.make_gaussian(*space, scale=SCALE)


def opendp_promised_laplace() -> Draw:
    """OpenDP searches for the scale that keeps a promise; the other functions here are given it."""
    dp = _opendp()
    space = dp.atom_domain(T="f64", nan=False), dp.absolute_distance(T="f64")
    return dp.binary_search_chain(lambda s: dp.m.make_laplace(*space, scale=s), d_in=1.0, d_out=EPSILON)


def opendp_promised_gaussian() -> Draw:
    dp = _opendp()
    space = dp.atom_domain(T="f64", nan=False), dp.absolute_distance(T="f64")
    return dp.binary_search_chain(lambda s: dp.m.make_gaussian(*space, scale=s), d_in=1.0, d_out=RHO)


# diffprivlib: one number at a time


def diffprivlib_laplace() -> Draw:
    mechanisms = load("diffprivlib.mechanisms")
    return mechanisms.Laplace(epsilon=EPSILON, sensitivity=1).randomise


def diffprivlib_discrete_laplace() -> Draw:
    mechanisms = load("diffprivlib.mechanisms")
    return mechanisms.Geometric(epsilon=EPSILON, sensitivity=1).randomise


def diffprivlib_gaussian() -> Draw:
    mechanisms = load("diffprivlib.mechanisms")
    return mechanisms.GaussianAnalytic(epsilon=1, delta=1e-6, sensitivity=1).randomise


def diffprivlib_discrete_gaussian() -> Draw:
    mechanisms = load("diffprivlib.mechanisms")
    return mechanisms.GaussianDiscrete(epsilon=1, delta=1e-6, sensitivity=1).randomise


# python-dp: one number at a time; an integer in gives an integer out


def python_dp_laplace() -> Draw:
    mechanisms = load("pydp.algorithms.numerical_mechanisms")
    return mechanisms.LaplaceMechanism(EPSILON, 1.0).add_noise


def python_dp_gaussian() -> Draw:
    mechanisms = load("pydp.algorithms.numerical_mechanisms")
    return mechanisms.GaussianMechanism(1.0, 1e-6, 1.0).add_noise
