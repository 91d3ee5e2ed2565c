"""``jit`` with this backend: the one that is found by its entry point, with the results of the NumPy backend."""

import threading

import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval
from lawful.staging import get_backend, jit
from lawful.xla_backend import Array, DeletedArrayError, XlaError, backend, device_put


def assert_same(f, *args) -> None:
    """Holds a function compiled by XLA to the same function eagerly and on the NumPy backend."""
    compiled = jit(f)(*args)
    for other in (f(*args), jit(f, backend="numpy")(*args)):
        assert get_aval(compiled) == get_aval(other)
        np.testing.assert_allclose(np.asarray(compiled), np.asarray(other), rtol=1e-6)


def test_jit_entry_point_names_this_backend() -> None:
    assert get_backend() is backend
    assert get_backend("xla") is backend
    assert type(jit(lambda x: x + 1)(np.arange(3))) is Array


@pytest.mark.parametrize(
    "x", [2, 2.5, True, 1j, np.float32(2), np.int8(2), np.array([1.0, 2.0]), np.zeros((0, 2))], ids=repr
)
@pytest.mark.parametrize("y", [3, 0.5, np.float16(3), np.uint8(3), ml_dtypes.bfloat16(3)], ids=repr)
def test_jit_values_dtypes_and_weakness(x, y) -> None:
    assert_same(lambda x, y: ops.add(ops.mul(x, y), 1), x, y)


def test_jit_program_of_several_ops() -> None:
    def f(w, b, x):
        h = ops.tanh(x @ w + b)
        return ops.where(h > 0, h, h * 0.1).sum(axis=0)[1:]

    rng = np.random.default_rng(0)
    assert_same(f, rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=(5, 3)))


def test_an_inner_jit_is_lowered_once() -> None:
    inner = jit(lambda x: ops.sin(x) * 2)

    def f(x):
        for _ in range(50):
            x = inner(x)
        return x

    text = jit(f).lower(np.ones(3)).as_text()
    assert text.count("stablehlo.sine") == 1
    assert text.count(" call @") == 50


def test_jit_closures_over_arrays_of_both_kinds() -> None:
    for const in (np.arange(4.0), device_put(np.arange(4.0))):
        inner = jit(lambda x, const=const: x + const)
        f = jit(lambda x, const=const, inner=inner: inner(x) * const)
        assert np.array_equal(f(np.ones(4)), (1 + np.arange(4.0)) * np.arange(4.0))


def test_jit_later_mutation_changes_nothing() -> None:
    const, x = np.ones(1000), np.ones(1000)
    f = jit(lambda x: x + const)
    out = f(x)
    const[:] = x[:] = 5.0
    assert np.all(np.asarray(out) == 2.0)
    assert np.all(np.asarray(f(x)) == 6.0)


def test_jit_donation() -> None:
    f = jit(lambda state, x: {"w": state["w"] + x}, donate_argnums=0)
    state = {"w": device_put(np.zeros(3))}
    first = state
    for _ in range(3):
        state = f(state, np.ones(3))
    assert np.array_equal(state["w"], np.full(3, 3.0))
    with pytest.raises(DeletedArrayError, match="donated to"):
        f(first, np.ones(3))


def test_jit_ahead_of_time() -> None:
    compiled = jit(lambda x: ops.exp(x) * 2).lower(np.ones(3)).compile()
    assert "HloModule" in compiled.as_text()
    assert compiled.cost_analysis()["transcendentals"] == 3
    assert compiled.memory_analysis().argument_size_in_bytes == 24
    np.testing.assert_allclose(compiled(np.ones(3)), 2 * np.exp(np.ones(3)))


def test_jit_ahead_of_time_with_options_of_xla() -> None:
    lowered = jit(lambda x: ops.sin(x) + ops.cos(x)).lower(np.arange(100.0))
    plain, split = lowered.compile(), lowered.compile(compiler_options={"xla_disable_hlo_passes": "fusion"})
    for compiled in (plain, split):
        np.testing.assert_allclose(compiled(np.arange(100.0)), np.sin(np.arange(100.0)) + np.cos(np.arange(100.0)))
    assert plain.as_text() != split.as_text()
    with pytest.raises(XlaError, match="no_such_option"):
        lowered.compile({"no_such_option": True})


def test_jit_compiler_options_only_outermost() -> None:
    inner = jit(ops.sin, compiler_options={"xla_backend_optimization_level": 0})
    for backend_name in ("xla", "numpy"):
        with pytest.raises(ArgumentValueError, match="jit of sin: expected compiler_options at the outermost jit"):
            jit(lambda x: inner(x) + 1.0, backend=backend_name)(1.0)
    assert jit(lambda x: jit(ops.sin, compiler_options={})(x))(0.0) == 0.0
    with pytest.raises(ArgumentTypeError, match="jit: expected compiler_options as a mapping"):
        jit(ops.sin, compiler_options={1: 0})


def test_jit_compiler_options_one_is_not_true() -> None:
    # Functions with equal jaxprs share compiled programs, so 1 and True must not be equal in the key.
    assert jit(ops.sin, compiler_options={"xla_cpu_enable_fast_math": True})(0.0) == 0.0
    with pytest.raises(XlaError, match="xla_backend_optimization_level"):
        jit(ops.sin, compiler_options={"xla_backend_optimization_level": True})(0.0)
    assert jit(ops.sin, compiler_options={"xla_backend_optimization_level": 1})(0.0) == 0.0


def test_jit_two_threads_at_once() -> None:
    start = threading.Barrier(4)
    wrong: list[int] = []

    def work(thread: int) -> None:
        start.wait()
        for i in range(10):
            n = 10 * thread + i
            if jit(lambda x, n=n: x * n + 1)(2.0).item() != 2.0 * n + 1:
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "complex128", "int8", "uint8", "int64"])
def test_jit_reduce_sum_of_neg(dtype: str) -> None:
    """It is compiled as a difference; also 0 has its sign, and what is too large its infinity."""
    numbers = np.array([[0.0, 1.5, -3, 7], [-0.0, 2.25, 3, 7], [0.0, 100, 0, -7], [0.0, 1.125, 0, -7]])
    x = numbers.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    for axes in ((0,), (1,), (0, 1), ()):
        found = np.asarray(jit(lambda x, axes=axes: ops.reduce_sum(ops.neg(x), axes))(x))
        wanted = np.asarray(jit(lambda x, axes=axes: ops.reduce_sum(x, axes))(-x))
        assert found.dtype == wanted.dtype
        assert found.tobytes() == wanted.tobytes()


def test_lowered_dialects() -> None:
    lowered = jit(lambda x: ops.sin(x) * 2.0, backend="xla").lower(np.ones(3))
    assert lowered.as_text() == lowered.as_text("stablehlo")
    assert "stablehlo.sine" in str(lowered.compiler_ir())
    assert "= f64[3]{0} sine(" in lowered.as_text("hlo")
    assert lowered.compiler_ir("hlo").as_hlo_text() == lowered.as_text("hlo")
    assert "loc(" in lowered.as_text(debug_info=True)
    with pytest.raises(ArgumentValueError, match="expected stablehlo or hlo as dialect, got 'mhlo'"):
        lowered.as_text("mhlo")
    lowered.compile()  # the module is as it was
