"""Distributions of traced arrays: one program for each number of arguments, with the results of the function itself."""

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import grad, jacfwd, jvp, value_and_grad
from lawful.batching import vmap
from lawful.core import ArgumentValueError, plain
from lawful.special import log_softmax, logit, logsumexp, softmax
from lawful.special.stats import bernoulli, beta, dirichlet, gamma, multivariate_normal, norm, poisson, t

X = np.array([0.2, 0.3, 0.5])
COVARIANCE = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.1], [0.0, 0.1, 3.0]])

CALLS = {
    "norm.logpdf": norm.logpdf,
    "norm.logpdf, integers": lambda x: norm.logpdf(x, 0, 2),
    "norm.logpdf, large integer": lambda x: norm.logpdf(x, 2**53 + 1, 2),
    "norm.logpdf, floats": lambda x: norm.logpdf(x, 0.5, 1.5),
    "norm.logpdf, names": lambda x: norm.logpdf(x, scale=2.0),
    "norm.logpdf, all names": lambda x: norm.logpdf(scale=2, x=x, loc=x),
    "norm.logpdf, negative scale": lambda x: norm.logpdf(x, 0.0, -1.0),
    "norm.logpdf, array": lambda x: norm.logpdf(np.arange(3, dtype=np.int8), x, np.float32(2)),
    "norm.cdf": lambda x: norm.cdf(x, np.arange(3)),
    "beta.logcdf": lambda x: beta.logcdf(x, 2, 3.0),
    "gamma.logpdf": lambda x: gamma.logpdf(2.0, x, scale=3),
    "poisson.logpmf": lambda x: poisson.logpmf(np.arange(3), x),
    "t.pdf": lambda x: t.pdf(x, 3),
    "dirichlet.logpdf": lambda x: dirichlet.logpdf(X.astype(x.dtype), x),
    "multivariate_normal.logpdf": lambda x: multivariate_normal.logpdf(x, X, COVARIANCE.astype(x.dtype)),
    "multivariate_normal.logpdf, number": lambda x: multivariate_normal.logpdf(X, x, 2),
    "logsumexp": lambda x: logsumexp(x, keepdims=True),
    "logsumexp, weights": lambda x: logsumexp(x, 0, X),
    "logsumexp, sign": lambda x: logsumexp(x, return_sign=True)[0],
    "softmax": lambda x: softmax(x, -1),
    "log_softmax": log_softmax,
    "logit": logit,
}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", CALLS)
def test_stats_of_traced_arrays_are_those_of_plain_calls(name, dtype):
    if dtype == np.float16 and name == "multivariate_normal.logpdf":
        pytest.skip("LAPACK has no matrices of float16")
    f, x = CALLS[name], X.astype(dtype)
    results = {
        "value": lambda: f(x),
        "gradient": lambda: value_and_grad(lambda x: ops.reduce_sum(ops.cos(f(x)), range(np.ndim(f(x)))))(x),
        "second": lambda: jacfwd(grad(lambda x: ops.reduce_sum(ops.cos(f(x)), range(np.ndim(f(x))))))(x),
        "batch": lambda: vmap(f)(np.stack([x, x[::-1]])),
        "tangent": lambda: jvp(f, (x,), (np.cos(x),)),
    }
    for what, compute in results.items():
        with np.errstate(all="ignore"):
            found, again = compute(), compute()
            with plain():
                expected = compute()
        for one, other, wanted in zip(*map(tree.leaves, (found, again, expected)), strict=True):
            assert one.dtype == wanted.dtype, what
            near = {"rtol": 32 * np.finfo(wanted.dtype).eps, "err_msg": what}  # sums may have another order
            np.testing.assert_allclose(one, wanted, **near)
            np.testing.assert_allclose(other, wanted, **near)


def test_stats_of_batches_of_small_integers_keep_their_dtype():
    found = vmap(lambda k: norm.logpdf(k, 1, 2))(np.arange(3, dtype=np.int8))
    assert found.dtype == norm.logpdf(np.arange(3, dtype=np.int8), 1, 2).dtype == np.float16


def test_stats_of_weak_numbers_are_weak():
    found = grad(lambda x: norm.logpdf(x, 0, 2))(1.0)
    assert type(found) is float
    assert found == -0.25


def test_stats_of_a_tracer_without_tangent_is_a_numpy_scalar():
    found = []
    for _ in range(3):
        jvp(lambda q: found.append(bernoulli.ppf(q, 0.4)), (0.5,), (1.0,))
    assert {type(x) for x in [*found, bernoulli.ppf(0.5, 0.4)]} == {np.float64}


@pytest.mark.parametrize(
    "call",
    [
        lambda x: norm.logpdf(x, shift=1.0),
        lambda x: norm.logpdf(x, 0.0, 1.0, 2.0),
        lambda x: norm.logpdf(x, 0.0, loc=1),
        lambda x: norm.logpdf(loc=x),
        lambda x: beta.logpdf(x, 2.0),
    ],
)
def test_stats_of_wrong_arguments_raise_as_for_values(call):
    with pytest.raises(TypeError) as of_value:
        call(0.5)
    with pytest.raises(TypeError) as of_tracer:
        grad(call)(0.5)
    assert str(of_tracer.value) == str(of_value.value)


def test_multivariate_normal_of_a_tracer_refuses_singular():
    with pytest.raises(ArgumentValueError, match="allow_singular"):
        grad(lambda x: multivariate_normal.logpdf(x, X, COVARIANCE, True))(X)


@pytest.mark.fast
def test_stats_function_is_traced_once(monkeypatch):
    calls = []
    original = norm.standardized
    monkeypatch.setattr(norm, "standardized", lambda *args, **kwargs: calls.append(0) or original(*args, **kwargs))
    gradient = grad(lambda x: norm.logpdf(x, 0, 2.5))
    gradient(np.float32(0.5)), gradient(np.float32(0.5))  # traced in the second call
    calls.clear()
    assert gradient(np.float32(0.25)) == np.float32(-0.04)
    assert not calls
