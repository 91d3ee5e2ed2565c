"""The variational autoencoder learns, on each backend, in a short form; its bound is one on the true probability."""

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from scipy import integrate, stats

from lawful import random, tree


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_autoencoder_short_training_reaches_the_bound(run: Callable[..., int], backend: str) -> None:
    assert run("--steps", 400, "--backend", backend) == 0


def test_autoencoder_too_short_a_training_is_reported(run: Callable[..., int]) -> None:
    assert run("--steps", 5, "--backend", "numpy") == 1


def test_autoencoder_probabilities_of_counts_are_binomial(example: ModuleType) -> None:
    counts, log_odds = np.meshgrid(np.arange(17.0), np.linspace(-5.0, 5.0, 7))
    expected = stats.binom(16, 1.0 / (1.0 + np.exp(-log_odds))).logpmf(counts)
    np.testing.assert_allclose(example.log_binomial(counts, log_odds), expected, rtol=1e-11)


def test_autoencoder_divergence_is_the_mean_of_the_log_ratio(example: ModuleType) -> None:
    mean, deviation = np.array([0.3, -1.2]), np.array([0.5, 1.7])

    def log_ratio(x: float, own: stats.rv_continuous) -> float:
        return float(own.pdf(x) * (own.logpdf(x) - stats.norm.logpdf(x)))

    expected = sum(
        integrate.quad(log_ratio, m - 12.0 * s, m + 12.0 * s, stats.norm(m, s))[0]
        for m, s in zip(mean, deviation, strict=True)
    )
    np.testing.assert_allclose(example.divergence(mean, deviation), expected, rtol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_autoencoder_bounds_exact_where_latents_have_no_effect(example: ModuleType, seed: int) -> None:
    """The bounds equal the probability where images do not depend on the latent variables."""
    parameters = example.initial_parameters(random.key(seed))
    for name in ("encode", "imagine"):
        parameters[name] = tree.map(np.zeros_like, parameters[name])
    image = np.random.default_rng(seed).integers(0, 17, size=64).astype(float)
    # Then the encoder gives the prior, and every pixel is even odds.
    expected = np.sum(stats.binom(16, 0.5).logpmf(image))
    for bound in (example.bound, example.tight_bound):
        np.testing.assert_allclose(bound(parameters, image, random.key(seed)), expected, rtol=1e-12)


def test_autoencoder_more_draws_give_a_tighter_bound(example: ModuleType) -> None:
    images = example.load(0).test
    arguments = example.initial_parameters(random.key(0)), images, random.key(1)
    loose = example.mean_of(example.bound)(*arguments)
    middle = example.mean_of(lambda *a: example.tight_bound(*a, draws=5))(*arguments)
    tight = example.mean_of(lambda *a: example.tight_bound(*a, draws=50))(*arguments)
    assert loose < middle < tight
