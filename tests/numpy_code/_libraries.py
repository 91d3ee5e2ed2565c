"""Functions of SciPy and scikit-learn that follow the array API, run on tracers.

Both look for an array's namespace only if the environment says so before SciPy is imported: so this is a program, which
prints how far each result is from the right one, or the error. `test_libraries` runs it.
"""

import json
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

os.environ["SCIPY_ARRAY_API"] = "1"

import numpy as np
import scipy
import scipy.fft
import scipy.integrate
import scipy.signal
import scipy.special
import scipy.stats
from scipy.spatial.transform import Rotation
from sklearn import set_config
from sklearn.decomposition import PCA
from sklearn.metrics import pairwise

import lawful.numpy as lnp
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.staging import jit

# scikit-learn asks for the values of its arguments, unless it is told that they are finite.
set_config(array_api_dispatch=True, assume_finite=True)

X = np.array([[1.0, 2.0, 0.5], [3.0, 4.0, 1.5], [5.0, 7.0, 0.3], [2.0, 1.0, 1.0]])

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "scipy.special.softmax": lambda x: scipy.special.softmax(x, axis=0),
    "scipy.stats.gmean": lambda x: scipy.stats.gmean(x, axis=0),
    "scipy.stats.hmean": lambda x: scipy.stats.hmean(x, axis=0),
    "scipy.stats.pmean": lambda x: scipy.stats.pmean(x, 3, axis=0),
    "scipy.stats.skew": lambda x: scipy.stats.skew(x, axis=0),
    "scipy.stats.kurtosis": lambda x: scipy.stats.kurtosis(x, axis=0),
    "scipy.stats.sem": lambda x: scipy.stats.sem(x, axis=0),
    "scipy.stats.gstd": lambda x: scipy.stats.gstd(x, axis=0),
    "scipy.integrate.trapezoid": lambda x: scipy.integrate.trapezoid(x, axis=0),
    "scipy.integrate.cumulative_trapezoid": lambda x: scipy.integrate.cumulative_trapezoid(x, axis=0),
    "scipy.integrate.simpson": lambda x: scipy.integrate.simpson(x, axis=0),
    "scipy.fft.fft": lambda x: lnp.real(scipy.fft.fft(x, axis=0)),
    "scipy.signal.fftconvolve": lambda x: scipy.signal.fftconvolve(x, x),
    "scipy.spatial.transform.Rotation.from_rotvec": lambda x: Rotation.from_rotvec(x).as_matrix(),
    "scipy.spatial.transform.Rotation.apply": lambda x: Rotation.from_quat(
        lnp.concatenate([x, x[:, :1]], axis=1)
    ).apply(x),
    "sklearn.metrics.pairwise.linear_kernel": pairwise.linear_kernel,
    "sklearn.metrics.pairwise.polynomial_kernel": pairwise.polynomial_kernel,
    "sklearn.metrics.pairwise.sigmoid_kernel": pairwise.sigmoid_kernel,
    "sklearn.metrics.pairwise.paired_euclidean_distances": lambda x: pairwise.paired_euclidean_distances(x, 2 * x),
    "sklearn.decomposition.PCA": lambda x: PCA(2, svd_solver="full").fit_transform(x),
}
TRANSFORMATIONS = ("grad", "jit", "vmap", "jit of grad")


def difference(function: Callable[[Any], Any], transformation: str) -> float:
    """Returns by how much a transformed function differs from what NumPy and difference quotients say."""
    expected = np.asarray(function(X))
    if transformation == "jit":
        return float(np.max(np.abs(np.asarray(jit(function)(X)) - expected)))
    if transformation == "vmap":
        other = X[::-1] * 1.1
        stacked = np.stack([expected, np.asarray(function(other))])
        return float(np.max(np.abs(np.asarray(vmap(function)(np.stack([X, other]))) - stacked)))
    weights = np.random.default_rng(0).uniform(0.5, 1.5, expected.shape)
    gradient = grad(lambda x: lnp.sum(weights * function(x)))
    slope = np.asarray((jit(gradient) if transformation == "jit of grad" else gradient)(X))
    v, step = np.random.default_rng(1).normal(size=X.shape), 1e-6
    quotient = np.sum(weights * (np.asarray(function(X + step * v)) - np.asarray(function(X - step * v)))) / (2 * step)
    return float(abs(np.sum(slope * v) - quotient) / (1 + abs(quotient)))


def main() -> None:
    warnings.simplefilter("ignore")
    found: dict[str, Any] = {}
    for name, function in FUNCTIONS.items():
        for transformation in TRANSFORMATIONS:
            try:
                found[f"{transformation} of {name}"] = difference(function, transformation)
            except Exception as error:
                found[f"{transformation} of {name}"] = f"{type(error).__name__}: {error}"
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
