"""`lawful.nn`: dtypes, masks that exclude every element, and variances that cancel."""

import ml_dtypes
import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import nn
from lawful.autodiff import grad
from lawful.staging import jit

ACTIVATIONS = (
    *("celu", "elu", "gelu", "hard_sigmoid", "hard_silu", "hard_tanh", "leaky_relu", "log_sigmoid", "log_softmax"),
    *("logmeanexp", "mish", "relu", "relu6", "selu", "sigmoid", "silu", "soft_sign", "softmax", "softplus"),
    *("sparse_plus", "sparse_sigmoid", "squareplus", "standardize"),
)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16, np.float32], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_keeps_the_dtype(name: str, dtype: type):
    function = getattr(nn, name)
    x = np.array([0.5, -0.25], dtype)
    assert function(x).dtype == jit(function)(x).dtype == x.dtype
    assert grad(lambda x: lnp.sum(function(x)))(x).dtype == x.dtype


def test_gelu_exact_keeps_bfloat16():
    x = np.array([0.5, -0.25], ml_dtypes.bfloat16)
    assert nn.gelu(x, approximate=False).dtype == x.dtype


def test_softmax_where_no_element_counts():
    x, where = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[False, False], [True, True]])
    out = nn.softmax(x, where=where)
    assert out[0].tolist() == [0.0, 0.0]
    np.testing.assert_array_equal(out[1], nn.softmax(x[1]))
    assert nn.log_softmax(x, where=where)[0].tolist() == [-np.inf, -np.inf]
    gradient = grad(lambda x: lnp.sum(nn.softmax(x, where=where)[:, 0]))(x)
    assert np.isfinite(gradient).all()
    assert gradient[0].tolist() == [0.0, 0.0]


def test_standardize_fast_with_variance_that_cancels():
    x = np.array([1e6, 1e6 + 1, 1e6 + 2], np.float32)
    assert np.isfinite(nn.standardize(x)).all()
    assert np.isfinite(jit(nn.standardize)(x)).all()


def test_standardize_refuses_unknown_algorithm():
    with pytest.raises(ValueError, match="'fast' or 'stable'"):
        nn.standardize(np.ones(3), algorithm="other")
