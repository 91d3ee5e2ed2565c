"""Hamiltonian Monte Carlo, with its draws held to a posterior that is known: the progress of diabetes in patients.

    uv run --group examples python examples/hamiltonian_monte_carlo.py

A linear model says how far the disease goes in a year, from ten measurements of each of 30 patients (Efron, Hastie,
Johnstone and Tibshirani 2004). Weights w and noise have the conjugate prior, τ ~ Gamma(2, 1) and w ~ N(0, 1/τ) with
τ = 1/σ², so the posterior is known: each weight has a t distribution, log τ is the logarithm of a gamma variable.

The sampler knows none of this. It asks for the `grad` of the log density, in coordinates that the `hessian` at the
mode makes round. A `scan` of transitions, each with a `fori_loop` of leaps, is a chain; `vmap` makes it many, `jit`
one program. Random numbers come from explicit keys.

Each chain's mean is an independent estimate, so their spread gives the Monte Carlo error. It prints how many such
errors the mean, the variance and the two tails of every parameter are off; above 5 it fails. It draws some traces, and
the draws of four parameters beside the known densities.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from command import parser, picture, progress_bar
from rich.console import Console
from rich.table import Table

import lawful.numpy as np
from lawful import random
from lawful.autodiff import grad, hessian, value_and_grad
from lawful.batching import vmap
from lawful.control_flow import fori_loop, scan
from lawful.special.stats import gamma, norm
from lawful.staging import get_backend, jit

SHAPE, RATE = 2.0, 1.0  # of the prior of τ
LEAPS = 4
LENGTH = 0.4  # of one leap, in coordinates where the posterior is about round
BLOCK = 50  # draws of each chain in one call
ALLOWED = 5.0


class Data(NamedTuple):
    """Measurements, one patient a row, and the progress of the disease; all with mean 0 and deviation 1."""

    inputs: Any
    outputs: Any
    names: list[str]


class Draws(NamedTuple):
    """Parameters, of shape (draws, chains, 11): the weights and log τ; and how often a proposal was accepted."""

    parameters: Any
    acceptance: float


def load(patients: int, seed: int) -> Data:
    """Returns the data of some patients."""
    from sklearn.datasets import load_diabetes

    data = load_diabetes()
    chosen = numpy.random.default_rng(seed).choice(len(data.target), patients, replace=False)
    inputs, outputs = data.data[chosen], data.target[chosen]
    inputs, outputs = ((x - x.mean(axis=0)) / x.std(axis=0) for x in (inputs, outputs))
    return Data(inputs, outputs, [*data.feature_names, "log τ"])


def log_density(parameters: Any, data: Data) -> Any:
    """Returns the logarithm of the posterior density, up to a constant."""
    weights, log_tau = parameters[:-1], parameters[-1]
    sigma = np.exp(-0.5 * log_tau)
    likelihood = np.sum(norm.logpdf(data.outputs, data.inputs @ weights, sigma))
    prior = np.sum(norm.logpdf(weights, 0.0, sigma)) + gamma.logpdf(np.exp(log_tau), SHAPE, scale=1.0 / RATE)
    return likelihood + prior + log_tau  # the last is the Jacobian of τ = exp(log τ)


def posterior(data: Data) -> list[Any]:
    """Returns the known distribution of each parameter."""
    from scipy import stats

    patients, size = data.inputs.shape
    precision = data.inputs.T @ data.inputs + numpy.eye(size)
    center = numpy.linalg.solve(precision, data.inputs.T @ data.outputs)
    shape = SHAPE + patients / 2.0
    rate = RATE + (data.outputs @ data.outputs - center @ precision @ center) / 2.0
    scales = numpy.sqrt(rate / shape * numpy.diag(numpy.linalg.inv(precision)))
    weights = [stats.t(2.0 * shape, m, s) for m, s in zip(center, scales, strict=True)]
    return [*weights, stats.loggamma(shape, loc=-numpy.log(rate))]


def round_coordinates(target: Callable[[Any], Any], start: Any) -> tuple[Any, Any]:
    """Returns the mode, and the root of the covariance that the curvature there says."""
    from scipy.optimize import minimize

    mode = minimize(lambda p: -target(p), start, jac=lambda p: -grad(target)(p)).x
    return mode, np.linalg.cholesky(np.linalg.inv(-hessian(target)(mode)))


def leapfrog(place: Any, momentum: Any, length: Any, target: Callable[[Any], Any]) -> tuple[Any, Any, Any]:
    """Returns where a particle with a momentum gets in some leaps, its momentum there, and its energy's change."""

    def leap(_: Any, state: tuple[Any, Any, Any, Any]) -> tuple[Any, Any, Any, Any]:
        place, momentum, _, slope = state
        half_way = momentum + 0.5 * length * slope
        place = place + length * half_way
        value, slope = value_and_grad(target)(place)
        return place, half_way + 0.5 * length * slope, value, slope

    before = place, momentum, *value_and_grad(target)(place)
    after = fori_loop(0, LEAPS, leap, before)
    start, end = (0.5 * np.sum(np.square(momentum)) - value for _, momentum, value, _ in (before, after))
    return *after[:2], end - start


def transition(key: Any, position: Any, target: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Returns the position after one step of Hamiltonian Monte Carlo, and whether it moved (Neal 2011)."""
    for_momentum, for_length, for_choice = random.split(key, 3)
    momentum = random.normal(for_momentum, position.shape)
    leap = LENGTH * random.uniform(for_length, minval=0.8, maxval=1.2)
    place, _, change = leapfrog(position, momentum, leap, target)
    is_accepted = np.log(random.uniform(for_choice)) < -change
    return np.where(is_accepted, place, position), is_accepted


def chain(key: Any, position: Any, target: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Returns a block of positions, each a transition after the one before, and which of them moved."""

    def step(position: Any, key: Any) -> tuple[Any, tuple[Any, Any]]:
        position, is_accepted = transition(key, position, target)
        return position, (position, is_accepted)

    return scan(step, position, random.split(key, BLOCK))[1]


def sample(data: Data, draws: int, chains: int, seed: int, backend: str | None, console: Console) -> Draws:
    """Returns draws of all chains in whole blocks, without a first block that only leads to where they belong."""
    mode, root = round_coordinates(lambda p: log_density(p, data), numpy.zeros(len(data.names)))
    target = lambda z: log_density(mode + root @ z, data)  # noqa: E731
    block = jit(vmap(lambda key, position: chain(key, position, target), out_axes=1), backend=backend)
    positions, acceptance = run_blocks(block, draws, (chains, len(data.names)), seed, console)
    return Draws(mode + positions @ root.T, acceptance)


def run_blocks(
    block: Callable[[Any, Any], Any], draws: int, shape: tuple[int, int], seed: int, console: Console
) -> tuple[Any, float]:
    """Returns the positions of all draws but the first block's, and how often a proposal was accepted.

    Args:
      block: takes keys and positions of all chains, and gives positions (draws, chains, n) and acceptances.
      draws: how many are wanted of each chain, at least.
      shape: the numbers of chains and of coordinates.
      seed: of the random numbers.
      console: shows the progress.
    """
    for_start, key = random.split(random.key(seed))
    positions = 2.0 * random.normal(for_start, (1, *shape))  # wider than the posterior
    kept, accepted, blocks = [], [], 1 + -(-draws // BLOCK)
    with progress_bar(console, "sampling", blocks, "accepted") as bar:
        for i in range(blocks):
            keys = random.split(random.fold_in(key, i), shape[0])
            positions, moved = map(numpy.asarray, block(keys, positions[-1]))
            kept.append(positions)
            accepted.append(float(numpy.mean(moved)))
            bar(accepted[-1])
    return numpy.concatenate(kept[1:]), float(numpy.mean(accepted[1:]))


def errors(draws: Any, known: Any) -> tuple[Any, float]:
    """Returns how many Monte Carlo errors the mean, the variance and the lower and upper twentieth of one parameter's
    draws are off, and the effective number of draws for the mean.
    """
    low, high = known.ppf([0.05, 0.95])
    what = numpy.array([draws, numpy.square(draws - known.mean()), draws < low, draws > high], float)
    of_chains = what.mean(axis=1)  # independent, so that their spread is the error
    error = of_chains.std(axis=1, ddof=1) / numpy.sqrt(of_chains.shape[1])
    off = of_chains.mean(axis=1) - numpy.array([known.mean(), known.var(), 0.05, 0.05])
    return off / error, known.var() / error[0] ** 2


def draw(found: Draws, data: Data, known: list[Any], path: Path) -> None:
    """Draws traces of three chains, and the draws of four parameters beside the known densities."""
    shown = [data.names.index(name) for name in ("bmi", "bp", "s5", "log τ")]
    with picture(path, figsize=(12, 7)) as figure:
        rows = figure.subplots(4, 2, width_ratios=(2, 1))
        for (trace, density), i in zip(rows, shown, strict=True):
            for chain in range(3):
                trace.plot(found.parameters[:400, chain, i], linewidth=0.8)
            trace.set(ylabel=data.names[i])
            trace.label_outer()
            trace.margins(x=0)
            ends = known[i].ppf([1e-4, 1 - 1e-4])
            density.hist(found.parameters[..., i].ravel(), 80, range=ends, density=True, color="0.8", label="draws")
            x = numpy.linspace(*ends, 300)
            density.plot(x, known[i].pdf(x), color="tab:red", label="known density")
            density.set(yticks=[])
            density.spines[["top", "right", "left"]].set_visible(False)
        rows[0, 0].set_title("traces of three chains")
        rows[0, 1].set_title("draws of all chains")
        rows[-1, 0].set_xlabel("draw")
        rows[-1, 1].legend(frameon=False, loc="upper left")


def main(arguments: list[str] | None = None) -> int:
    options_of = parser(__doc__, "hamiltonian_monte_carlo")
    options_of.add_argument("--draws", type=int, default=4000, help="of each chain (default: 4000)")
    options_of.add_argument("--chains", type=int, default=64, help="run side by side (default: 64)")
    options_of.add_argument("--patients", type=int, default=30, help="to learn from (default: 30)")
    options = options_of.parse_args(arguments)

    console = Console()
    console.print(f"backend: {get_backend(options.backend).name}")
    data = load(options.patients, options.seed)
    found = sample(data, options.draws, options.chains, options.seed, options.backend, console)
    known = posterior(data)
    table = Table("parameter", "known mean", "mean", "variance", "low tail", "high tail", "effective draws")
    table.title = "how many Monte Carlo errors the draws are off"
    worst = []
    for i, (name, distribution) in enumerate(zip(data.names, known, strict=True)):
        off, effective = errors(found.parameters[..., i], distribution)
        worst.append(numpy.max(numpy.abs(off)))
        table.add_row(name, f"{distribution.mean():+.4f}", *(f"{each:+.1f}" for each in off), f"{effective:.0f}")
    console.print(table)
    draw(found, data, known, options.output)
    console.print(f"picture: {options.output}")
    console.print(f"accepted: {found.acceptance:.1%}; of {found.parameters[..., 0].size} draws")
    console.print(f"largest difference: {numpy.max(worst):.1f} Monte Carlo errors")
    return 0 if numpy.max(worst) < ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
