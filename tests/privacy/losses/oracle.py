"""An oracle that shares no code with the library: δ(ε) by integrating the moment generating function of the loss.

δ(ε) = (1/π) ∫_0^∞ Re[ M(z) e^(-zε) / (z(z+1)) ] dt along z = θ + it, any θ > 0: the Laplace transform of (1 - e^-x)₊ is
1/(z(z+1)). M is a product of closed forms, or of trapezoid sums over the real line, which converge exponentially.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np

Mgf = Callable[[np.ndarray], np.ndarray]


def laplace(c: float) -> Mgf:
    def m(z):
        middle = 0.5 * np.exp(-c / 2) * np.sinh((z + 0.5) * c) / (z + 0.5)
        return 0.5 * np.exp(z * c) + 0.5 * np.exp(-c - z * c) + middle

    return m


def response(eps: float, k: int = 2) -> Mgf:
    truth = math.exp(eps) / (math.exp(eps) + k - 1)
    lie = truth * math.exp(-eps)
    return lambda z: truth * np.exp(z * eps) + lie * np.exp(-z * eps) + (k - 2) * lie


def gaussian(mu: float) -> Mgf:
    return lambda z: np.exp(mu * mu * z * (z + 1) / 2)


def bounded_range(eta: float) -> Mgf:
    a = math.exp(eta / 2)
    return lambda z: a / (a * a - 1) * 2 * np.sinh((z + 0.5) * eta) / (2 * (z + 0.5))


def sampled_gaussian(mu: float, q: float, backward: bool, group: int = 1) -> Mgf:
    x = np.linspace(-14, 14 + group * mu, 6001)
    phi = np.exp(-x * x / 2) / math.sqrt(2 * math.pi) * (x[1] - x[0])
    coins = [math.comb(group, j) * q**j * (1 - q) ** (group - j) for j in range(group + 1)]
    ratio = sum(w * np.exp(j * mu * x - (j * mu) ** 2 / 2) for j, w in enumerate(coins))
    loss = np.log(ratio)
    if backward:
        return lambda z: np.exp(-np.multiply.outer(z, loss)) @ phi
    return lambda z: np.exp(np.multiply.outer(z, loss)) @ (phi * ratio)


def sampled_laplace(c: float, q: float, backward: bool) -> Mgf:
    nodes, weights = np.polynomial.legendre.leggauss(200)
    base = np.concatenate([c * nodes, [c, -c]])
    p = np.concatenate([c * weights * np.exp((c * nodes - c) / 2) / 4, [0.5, math.exp(-c) / 2]])
    base_q = p * np.exp(-base)
    mixed = (1 - q) * base_q + q * p
    loss = np.log(1 - q + q * np.exp(base))
    if backward:
        return lambda z: np.exp(-np.multiply.outer(z, loss)) @ base_q
    return lambda z: np.exp(np.multiply.outer(z, loss)) @ mixed


def fixed_size_gaussian(mu: float, gamma: float) -> Mgf:
    nodes, weights = np.polynomial.legendre.leggauss(400)
    half = np.concatenate([7 * nodes + 7 + mu / 2, 7 * nodes - 7 + mu / 2])
    w = np.concatenate([7 * weights, 7 * weights])
    q = np.exp(-half * half / 2) / math.sqrt(2 * math.pi) * w
    p = np.exp(-((half - mu) ** 2) / 2) / math.sqrt(2 * math.pi) * w
    up = half > mu / 2
    mass = np.where(up, (1 - gamma) * q + gamma * p, p)
    loss = np.where(up, np.log(1 - gamma + gamma * p / q), -np.log(1 - gamma + gamma * q / p))
    atom = (1 - gamma) * (p[up].sum() - q[up].sum())
    return lambda z: np.exp(np.multiply.outer(z, loss)) @ mass + atom


def discrete_gaussian(sigma: float, shift: int) -> Mgf:
    x = np.arange(-int(40 * sigma), int(40 * sigma) + shift + 1)
    q = np.exp(-0.5 * (x / sigma) ** 2)
    norm = q.sum()
    p = np.exp(-0.5 * ((x - shift) / sigma) ** 2) / norm
    loss = (x - shift / 2) * shift / sigma**2
    return lambda z: np.exp(np.multiply.outer(z, loss)) @ p


def delta(plan: list[tuple[Mgf, int]], epsilon: float, tilt: float, span: float) -> float:
    """δ(epsilon) for smooth plans; ``span`` must exceed the spread of the total loss several times."""

    def log_m(z):
        with np.errstate(divide="ignore"):
            return sum(n * np.log(m(z)) for m, n in plan)

    step = 2 * math.pi / span
    total, start, block = 0.0, 0, 256
    base = float(log_m(np.array([tilt + 0j]))[0].real)
    while start < 200_000:
        t = step * np.arange(start, start + block)
        z = tilt + 1j * t
        value = np.exp(log_m(z) - base - 1j * t * epsilon) / (z * (z + 1))
        if start == 0:
            value[0] /= 2
        total += float(value.real.sum())
        start += block
        if np.abs(value[-16:]).max() < 1e-17 * abs(total):
            break
    else:
        raise AssertionError("the plan is not smooth enough for this oracle")
    return total * step / math.pi * math.exp(base - tilt * epsilon)


def finite_delta(plan: list[tuple[list[Fraction], list[Fraction]]], ratio: Fraction) -> Fraction:
    """δ at e^ε = ratio of a product of finite pairs, exactly, by enumeration of all outcomes."""
    total = Fraction(0)
    for outcome in product(*(range(len(p)) for p, _ in plan)):
        p = q = Fraction(1)
        for (ps, qs), i in zip(plan, outcome, strict=True):
            p, q = p * ps[i], q * qs[i]
        total += max(p - ratio * q, Fraction(0))
    return total
