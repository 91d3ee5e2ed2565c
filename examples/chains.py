"""Chains of Hamiltonian Monte Carlo on eight devices, with the statistic R-hat that says whether they agree.

    uv run --group examples python examples/chains.py

The CPU counts as eight devices. `shard_map` gives each device its part of the chains of `hamiltonian_monte_carlo.py`,
which `vmap` runs side by side there. Chains need nothing of each other, so the program that samples has no collective.
R-hat (Gelman and Rubin 1992) compares the variance within chains to that between them: `psum` and `pmean` add up what
each device computes. The exit status is 1 unless the draws agree with the known posterior, and R-hat with 1.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from command import parser, picture
from hamiltonian_monte_carlo import Data, chain, errors, load, log_density, posterior, round_coordinates, run_blocks
from rich.console import Console
from rich.table import Table

import lawful.numpy as np
from lawful import parallel
from lawful.batching import pmean, psum, vmap
from lawful.parallel import P, make_mesh, shard_map
from lawful.staging import jit

DEVICES = 8
ALLOWED_R_HAT = 1.05
ALLOWED_ERRORS = 5.0


class Draws(NamedTuple):
    """Parameters, of shape (draws, chains, 11), how often a proposal was accepted, and R-hat of each parameter."""

    parameters: Any
    acceptance: float
    r_hat: Any


def r_hat(draws: Any) -> Any:
    """Returns R-hat of each parameter, from the chains of one device: (draws, chains, parameters)."""
    count, chains = draws.shape[0], draws.shape[1]
    means = np.mean(draws, axis=0)
    within = pmean(np.mean(np.var(draws, axis=0, ddof=1), axis=0), "chains")
    center = pmean(np.mean(means, axis=0), "chains")
    number = psum(chains, "chains")
    between = psum(np.sum(np.square(means - center), axis=0), "chains") / (number - 1)
    return np.sqrt((count - 1) / count + between / within)


def sample(data: Data, draws: int, chains: int, seed: int, console: Console) -> Draws:
    """Returns draws of all chains in whole blocks, without a first block that only leads to where they belong."""
    mode, root = round_coordinates(lambda p: log_density(p, data), numpy.zeros(len(data.names)))
    mesh = make_mesh((DEVICES,), ("chains",))

    def block(keys: Any, positions: Any) -> Any:
        target = lambda z: log_density(mode + root @ z, data)  # noqa: E731
        return vmap(lambda key, position: chain(key, position, target), out_axes=1)(keys, positions)

    parts = P("chains")
    by_chain = P(None, "chains")
    compiled = jit(shard_map(block, mesh=mesh, in_specs=(parts, parts), out_specs=(by_chain, by_chain)))
    positions, acceptance = run_blocks(compiled, draws, (chains, len(data.names)), seed, console)
    found = mode + positions @ root.T
    agreement = jit(shard_map(r_hat, mesh=mesh, in_specs=by_chain, out_specs=P()))(found)
    return Draws(found, acceptance, numpy.asarray(agreement))


def draw(found: Draws, data: Data, known: list[Any], path: Path) -> None:
    """Draws for some parameters the running means of the chains, in the color of their device, and the known mean."""
    shown = [data.names.index(name) for name in ("bmi", "bp", "s5", "log τ")]
    draws, chains, _ = found.parameters.shape
    with picture(path, figsize=(10, 6)) as figure:
        for axes, i in zip(figure.subplots(2, 2, sharex=True).flat, shown, strict=True):
            running = numpy.cumsum(found.parameters[..., i], axis=0) / numpy.arange(1, draws + 1)[:, None]
            for number in range(chains):
                axes.plot(running[:, number], color=f"C{number * DEVICES // chains}", linewidth=0.6, alpha=0.7)
            axes.axhline(known[i].mean(), color="black", linestyle="--", linewidth=1)
            axes.set(title=f"{data.names[i]}: R-hat {found.r_hat[i]:.4f}", xlabel="draw", ylabel="mean so far")
            axes.label_outer()


def main(arguments: list[str] | None = None) -> int:
    """Runs the example; the exit status is 1 if the chains, or they and the known posterior, do not agree."""
    assert __doc__ is not None
    made = parser(__doc__, "chains")
    made.add_argument("--draws", type=int, default=1000, help="of each chain (default: 1000)")
    made.add_argument("--chains", type=int, default=64, help="a multiple of 8 (default: 64)")
    options = made.parse_args(arguments)
    parallel.set_cpu_device_count(DEVICES)

    console = Console()
    data = load(30, options.seed)
    found = sample(data, options.draws, options.chains, options.seed, console)
    known = posterior(data)
    table = Table("parameter", "known mean", "mean", "known deviation", "deviation", "effective draws", "R-hat")
    table.title = f"{options.chains} chains on {DEVICES} devices"
    worst = []
    for i, (name, distribution) in enumerate(zip(data.names, known, strict=True)):
        draws = found.parameters[..., i]
        off, effective = errors(draws, distribution)
        worst.append(numpy.max(numpy.abs(off)))
        table.add_row(
            name, f"{distribution.mean():+.4f}", f"{draws.mean():+.4f}", f"{distribution.std():.4f}",
            f"{draws.std():.4f}", f"{effective:.0f}", f"{found.r_hat[i]:.4f}",
        )  # fmt: skip
    console.print(table)
    draw(found, data, known, options.output)
    console.print(f"picture: {options.output}")
    console.print(f"accepted: {found.acceptance:.1%}; of {found.parameters[..., 0].size} draws")
    largest = numpy.max(found.r_hat)
    console.print(f"largest R-hat: {largest:.4f}, largest difference: {max(worst):.1f} Monte Carlo errors")
    return 0 if largest < ALLOWED_R_HAT and max(worst) < ALLOWED_ERRORS else 1


if __name__ == "__main__":
    sys.exit(main())
