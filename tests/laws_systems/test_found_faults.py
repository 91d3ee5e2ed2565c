"""Faults that the laws found in other systems, shrunk. The adapters avoid them and name them."""

import threading
from typing import Any

import numpy as np
import pytest

# PyTorch warns so about itself, when it loads its forward mode and where it maps by a loop.
pytestmark = [
    pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning"),
]


def test_jax_grad_of_scalar_pad_value_raises() -> None:
    """The gradient is zero: nothing is padded."""
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match="NoneType"):
        jax.grad(lambda x: jax.lax.pad(jax.numpy.float32(2.0), x, ()))(jax.numpy.float32(1.0))


def test_jax_fails_to_differentiate_by_a_scalar_bound() -> None:
    """The derivative is 3: all elements are below the bound."""
    jax = pytest.importorskip("jax")
    x = jax.numpy.zeros(3)
    with pytest.raises(TypeError, match="select cases must have the same shapes"):
        jax.grad(lambda low: jax.lax.clamp(low, x, x + 2.0).sum())(jax.numpy.ones((), x.dtype))


def test_the_adapter_of_jax_clamps_to_scalar_bounds() -> None:
    pytest.importorskip("jax")
    from lawful.laws.systems.jax import grad, ops

    x = np.zeros(3)
    assert grad(lambda low: ops.reduce_sum(ops.clamp(low, x, 2.0), (0,)))(1.0) == 3


def test_the_adapter_of_jax_pads_a_scalar_by_itself() -> None:
    pytest.importorskip("jax")
    from lawful.laws.systems.jax import grad, ops

    assert grad(lambda x: ops.pad(2.0, x, ()))(1.0) == 0


def test_jax_associative_scan_reverse_negative_axis_raises() -> None:
    """The sums are 3, 2, 1."""
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match="rev dimensions"):
        jax.lax.associative_scan(jax.numpy.add, jax.numpy.ones(3), reverse=True, axis=-1)


def test_jax_adapter_associative_scan_negative_axis() -> None:
    """The adapter of JAX scans along an axis counted from the end."""
    pytest.importorskip("jax")
    from lawful.laws.systems.jax import associative_scan, ops

    assert np.array_equal(associative_scan(ops.add, np.ones(3), True, -1), [3.0, 2.0, 1.0])


def test_autograd_grad_of_broadcast_to_empty_is_misshaped() -> None:
    """The gradient of a broadcast to an empty array has the wrong shape."""
    autograd = pytest.importorskip("autograd")
    import autograd.numpy as anp

    x = np.ones(1)
    assert autograd.grad(lambda x: anp.sum(anp.broadcast_to(x, (0,))))(x).shape == (0,)  # and not (1,)


def test_autograd_grad_of_prod_with_zero_factor_is_nan() -> None:
    """The derivative is the product of the other factors, (2, 0)."""
    autograd = pytest.importorskip("autograd")
    import autograd.numpy as anp

    with np.errstate(all="ignore"):
        gradient = autograd.grad(anp.prod)(np.array([0.0, 2.0]))
    np.testing.assert_array_equal(gradient, [np.nan, 0.0])


def test_the_adapter_of_autograd_broadcasts_to_nothing() -> None:
    pytest.importorskip("autograd")
    from lawful.laws.systems.autograd import grad, ops

    x = np.ones(1)
    np.testing.assert_array_equal(grad(lambda x: ops.reduce_sum(ops.broadcast_in_dim(x, (0,), (0,)), (0,)))(x), [0.0])


def test_derivatives_of_autograd_in_two_threads_mix_up() -> None:
    """While one thread differentiates, that of another one counts as nested within it."""
    autograd = pytest.importorskip("autograd")
    inside, leave = threading.Event(), threading.Event()
    found = []

    def slow(x: float) -> float:
        inside.set()
        leave.wait(10)
        return x * x

    thread = threading.Thread(target=lambda: found.append(autograd.grad(slow)(3.0)))
    thread.start()
    inside.wait(10)
    try:
        from autograd.tracer import trace_stack

        assert trace_stack.top == 0  # and not -1: this thread differentiates nothing
    finally:
        leave.set()
        thread.join()
    assert found == [6.0]


def test_autograd_result_written_into_changes_vjp() -> None:
    """Writing into a result of autograd changes its derivative."""
    autograd = pytest.importorskip("autograd")
    import autograd.numpy as anp

    pull, out = autograd.make_vjp(anp.exp)(np.array([0.0, 1.0]))
    before = pull(np.ones(2))
    out[...] = 7.0
    assert not np.array_equal(pull(np.ones(2)), before)


def test_autograd_closure_written_into_changes_vjp() -> None:
    """Writing into an array that a function closes over changes its derivative in autograd."""
    autograd = pytest.importorskip("autograd")

    factor = np.array([2.0, 3.0])
    pull, _ = autograd.make_vjp(lambda x: x * factor)(np.array([0.0, 1.0]))
    before = pull(np.ones(2))
    factor[...] = 7.0
    assert not np.array_equal(pull(np.ones(2)), before)


def test_torch_mixed_second_derivative_of_power_is_wrong() -> None:
    """∂²(xʸ)/∂x∂y is 1/x at y = 0, in either order."""
    torch = pytest.importorskip("torch")
    x, y = torch.tensor(2.0), torch.tensor(0.0)

    def power(x: Any, y: Any) -> Any:
        return x**y

    grad = torch.func.grad
    assert grad(grad(power, 1), 0)(x, y) == 0.5
    assert grad(grad(power, 0), 1)(x, y) == 0.0  # and not 0.5


def test_torch_jvp_refuses_broadcast_tensor() -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor(1.0).expand(3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.func.jvp(torch.sin, (x,), (torch.ones(3),))


def test_the_adapter_of_torch_takes_a_tensor_that_was_broadcast() -> None:
    pytest.importorskip("torch")
    from lawful.laws.systems.torch import array, jvp, ops

    x = ops.broadcast_in_dim(array(np.array(0.0)), (3,), ())
    np.testing.assert_array_equal(jvp(ops.sin, (x,), (np.ones(3),))[1], np.ones(3))


def test_torch_vmap_over_empty_dimension_raises() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(RuntimeError, match="cannot reshape tensor of 0 elements"):
        torch.func.vmap(lambda x: x.ravel())(torch.zeros(0, 3))
