"""Gaussian process regression: the hills around Jacksboro, Tennessee, from a few hundred measured heights.

    uv run --group examples python examples/gaussian_process.py

The heights are those of a real elevation model (USGS, by way of Matplotlib's sample data). The covariance of two
places falls with their distance (Matérn 3/2), with a length of its own to the east and to the north. Those lengths,
the variance and the noise are fitted by maximizing the log marginal likelihood: `value_and_grad` through the Cholesky
decomposition of the covariance matrix, compiled by `jit`, drives SciPy's L-BFGS-B. `hessian` at the optimum says how
well the heights determine them (Laplace's approximation).

It prints the fit and that of scikit-learn's `GaussianProcessRegressor`, whose gradients were derived by hand: they
have to agree. It draws the measured heights, the land as it is, as predicted, and the uncertainty of the prediction.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from command import parser, picture, progress_bar
from rich.console import Console
from rich.table import Table

import lawful.numpy as np
from lawful.autodiff import hessian, value_and_grad
from lawful.ops import triangular_solve
from lawful.special.stats import multivariate_normal
from lawful.staging import get_backend, jit

NAMES = ("variance", "length east", "length north", "noise variance")
START = numpy.log([1.0, 1.0, 1.0, 0.1])
BOUNDS = [(numpy.log(1e-5), numpy.log(1e5))] * 4
GRID = 60


class Land(NamedTuple):
    """Places in km (east, north) and heights in units of their standard deviation, ``scale`` metres, about ``mean``."""

    places: Any
    heights: Any
    grid: Any
    true_heights: Any
    mean: float
    scale: float


class Fit(NamedTuple):
    """The logarithms of the four hyperparameters, the log marginal likelihood there, and the prediction."""

    theta: Any
    log_likelihood: float
    mean: Any
    deviation: Any


def load(points: int, seed: int) -> Land:
    """Returns heights at random places, and those at a grid of other places to predict."""
    from matplotlib import cbook

    with cbook.get_sample_data("jacksboro_fault_dem.npz") as data:
        elevation = data["elevation"][:240, :300].astype(float)
        north_step, degree = float(data["dy"]) * 111.0, numpy.cos(numpy.deg2rad(float(data["ymin"])))
        east_step = float(data["dx"]) * 111.3 * degree
    rows, columns = elevation.shape
    chosen = numpy.random.default_rng(seed).choice(elevation.size, points, replace=False)
    i, j = numpy.divmod(chosen, columns)
    measured = elevation[i, j]
    gi, gj = numpy.meshgrid(
        numpy.linspace(0, rows - 1, GRID).astype(int), numpy.linspace(0, columns - 1, GRID).astype(int), indexing="ij"
    )

    def place(i: Any, j: Any) -> Any:
        return numpy.stack([j * east_step, (rows - 1 - i) * north_step], axis=-1)

    mean, scale = measured.mean(), measured.std()
    grid, truth = place(gi, gj).reshape(-1, 2), (elevation[gi, gj].ravel() - mean) / scale
    return Land(place(i, j), (measured - mean) / scale, grid, truth, mean, scale)


def covariance(theta: Any, a: Any, b: Any) -> Any:
    """Returns the covariances of the heights at places ``a`` and ``b``, of shapes (n, 2) and (m, 2)."""
    square = np.sum(np.square((a[:, None] - b[None]) / np.exp(theta[1:3])), axis=-1)
    # The square root has no derivative at 0, where a place meets itself.
    apart = square > 0.0
    distance = np.sqrt(3.0) * np.where(apart, np.sqrt(np.where(apart, square, 1.0)), 0.0)
    return np.exp(theta[0]) * (1.0 + distance) * np.exp(-distance)


def noisy_covariance(theta: Any, places: Any) -> Any:
    """Returns the covariances of measurements."""
    return covariance(theta, places, places) + np.exp(theta[3]) * np.eye(len(places))


def negative_log_likelihood(theta: Any, places: Any, heights: Any) -> Any:
    """Returns minus the logarithm of the probability density of the measured heights."""
    return -multivariate_normal.logpdf(heights, np.zeros(len(places)), noisy_covariance(theta, places))


def predict(theta: Any, places: Any, heights: Any, grid: Any) -> tuple[Any, Any]:
    """Returns the mean and the standard deviation of a measurement at each place of a grid."""
    root = np.linalg.cholesky(noisy_covariance(theta, places))
    across = triangular_solve(root, covariance(theta, places, grid), left_side=True, lower=True)
    whitened = triangular_solve(root, heights, left_side=True, lower=True)
    variance = np.exp(theta[0]) + np.exp(theta[3]) - np.sum(np.square(across), axis=0)
    return across.T @ whitened, np.sqrt(variance)


def fit(land: Land, backend: str | None, console: Console) -> tuple[Fit, Any]:
    """Returns the fit, and the standard deviations of the logarithms of the hyperparameters."""
    from scipy.optimize import minimize

    data, objective = (land.places, land.heights), jit(value_and_grad(negative_log_likelihood), backend=backend)
    with progress_bar(console, "fitting", None, "log marginal likelihood") as step:
        found = minimize(
            objective, START, data, "L-BFGS-B", jac=True, bounds=BOUNDS,
            callback=lambda intermediate_result: step(-intermediate_result.fun),
        )  # fmt: skip
    curvature = jit(hessian(negative_log_likelihood), backend=backend)(found.x, *data)
    mean, deviation = jit(predict, backend=backend)(found.x, *data, land.grid)
    return Fit(found.x, -found.fun, mean, deviation), np.sqrt(np.diag(np.linalg.inv(curvature)))


def fit_by_scikit_learn(land: Land) -> Fit:
    """Returns the same of scikit-learn."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    kernel = ConstantKernel(1.0) * Matern([1.0, 1.0], nu=1.5) + WhiteKernel(0.1)
    found = GaussianProcessRegressor(kernel, alpha=0.0).fit(land.places, land.heights)
    mean, deviation = found.predict(land.grid, return_std=True)
    return Fit(found.kernel_.theta, found.log_marginal_likelihood_value_, mean, deviation)


def differences(ours: Fit, theirs: Fit) -> tuple[float, float]:
    """Returns the largest difference of hyperparameters' logarithms, and of predictions and their deviations."""
    predictions = max(abs(ours.mean - theirs.mean).max(), abs(ours.deviation - theirs.deviation).max())
    return abs(ours.theta - theirs.theta).max(), predictions


def draw(land: Land, ours: Fit, path: Path) -> None:
    """Draws the measured heights, the true ones, the predicted ones and their uncertainty."""
    metres = land.mean + land.scale * land.true_heights
    heights = {"cmap": "gist_earth", "vmin": metres.min() - 100.0, "vmax": metres.max()}
    east, north = land.grid.T.reshape(2, GRID, GRID)
    with picture(path, figsize=(10.6, 8.8)) as figure:
        (measured, true), (predicted, uncertain) = figure.subplots(2, 2, sharex=True, sharey=True)
        dots = measured.scatter(*land.places.T, c=land.mean + land.scale * land.heights, s=16, **heights)
        measured.set_title(f"{len(land.places)} measured heights")
        true.pcolormesh(east, north, metres.reshape(GRID, GRID), **heights)
        true.set_title("the land")
        predicted.pcolormesh(east, north, (land.mean + land.scale * ours.mean).reshape(GRID, GRID), **heights)
        predicted.set_title("prediction")
        deviation = uncertain.pcolormesh(east, north, land.scale * ours.deviation.reshape(GRID, GRID), cmap="magma")
        uncertain.plot(*land.places.T, ".", color="white", markersize=2)
        uncertain.set_title("its standard deviation, and the places measured")
        figure.colorbar(dots, ax=[measured, true], label="height, m", pad=0.02)
        figure.colorbar(deviation, ax=[predicted, uncertain], label="standard deviation, m", pad=0.02)
        for axes in (measured, true, predicted, uncertain):
            axes.set(aspect="equal", xlabel="km east", ylabel="km north", xlim=(0, east.max()), ylim=(0, north.max()))
            axes.label_outer()


def main(arguments: list[str] | None = None) -> int:
    options_of = parser(__doc__, "gaussian_process")
    options_of.add_argument("--points", type=int, default=600, help="measured heights (default: 600)")
    options = options_of.parse_args(arguments)

    console = Console()
    console.print(f"backend: {get_backend(options.backend).name}")
    land = load(options.points, options.seed)
    ours, errors = fit(land, options.backend, console)
    with console.status("scikit-learn's fit"):
        theirs = fit_by_scikit_learn(land)
    draw(land, ours, options.output)

    table = Table("hyperparameter", "fitted (one standard deviation)", "scikit-learn")
    for name, theta, error, other in zip(NAMES, ours.theta, errors, theirs.theta, strict=True):
        low, high = numpy.exp(theta - error), numpy.exp(theta + error)
        table.add_row(name, f"{numpy.exp(theta):.4f} ({low:.4f} to {high:.4f})", f"{numpy.exp(other):.4f}")
    table.add_row("log marginal likelihood", f"{ours.log_likelihood:.6f}", f"{theirs.log_likelihood:.6f}")
    console.print(table)
    residual = ours.mean - land.true_heights
    within = numpy.mean(abs(residual) < 1.96 * ours.deviation)
    rms = land.scale * numpy.sqrt(numpy.mean(residual**2))
    console.print(f"prediction: {rms:.1f} m off (root mean square), {within:.1%} within the 95% intervals")
    console.print(f"picture: {options.output}")
    of_theta, of_predictions = differences(ours, theirs)
    console.print(
        f"differences from scikit-learn: log hyperparameters {of_theta:.1e}, predictions {of_predictions:.1e}"
    )
    return 0 if of_theta < 1e-3 and of_predictions < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
