"""A compiled program takes and gives exactly the types it was compiled for, and uses up what is donated."""

import itertools
import threading
import time

import numpy as np
import pytest

from lawful.core import ArgumentValueError, ClosedJaxpr, Jaxpr, Literal, ShapedArray, Var, float0, supported_dtypes
from lawful.xla_backend import Array, DeletedArrayError, XlaError, backend, device_put
from lawful.xla_backend._runtime import bindings, clients, compilation, executables

F64 = ShapedArray((3,), "float64")
WEAK = ShapedArray((), "float64", weak_type=True)
X = np.arange(3.0)


def add(ctx, x, y):
    return ctx.hlo.add(x, y)


def identity(ctx, x):
    return x


@pytest.fixture
def total(compile_program):
    return compile_program(lambda record, x, y: record(add, x, y, out=F64), F64, F64)


def test_compiled_arrays_of_every_kind_may_be_mixed(total) -> None:
    for x in (X, device_put(X), X[::-1][::-1], X.astype(">f8")):
        for y in (X, device_put(X)):
            [out] = total(x, y)
            assert type(out) is Array
            assert np.array_equal(out, 2 * X)


@pytest.mark.parametrize("dtype", supported_dtypes, ids=str)
def test_compiled_every_dtype_passes_through(compile_program, dtype) -> None:
    x = np.array([0, 1, 1], dtype)
    aval = ShapedArray((3,), dtype)
    compiled = compile_program(lambda record, x: [record(identity, x, out=aval), x], aval)
    for out in compiled(x):
        assert out.aval == aval
        assert out.tobytes() == x.tobytes()


def test_compiled_results_are_weak_where_the_jaxpr_says_so(compile_program) -> None:
    compiled = compile_program(
        lambda record, x: [record(add, x, 1.0, out=WEAK), Literal(2.0), Literal(np.float32(3))], WEAK
    )
    for x in (1.0, device_put(1.0), np.float64(1.0), np.array(1.0), device_put(np.float64(1.0))):
        outs = compiled(x)
        assert [out.item() for out in outs] == [2.0, 2.0, 3.0]
        assert [out.weak_type for out in outs] == [True, True, False]
        assert [out.dtype for out in outs] == [np.float64, np.float64, np.float32]


def test_compiled_literals_keep_their_bits(compile_program) -> None:
    literals = [0.0, -0.0, np.nan, -np.inf, np.float32(-0.0), True, 2**62, np.uint8(255), 1j, complex(-0.0, np.nan)]
    outs = compile_program(lambda record: [Literal(x) for x in literals])()
    for out, literal in zip(outs, literals, strict=True):
        assert out.tobytes() == np.asarray(literal).tobytes()


def test_compiled_no_arguments_and_no_results(compile_program) -> None:
    assert compile_program(lambda record: [])() == []
    assert compile_program(lambda record, x: [], F64)(X) == []
    x, y = compile_program(lambda record, x: [x, x], F64)(X)
    assert np.array_equal(x, y)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((X, X.astype(np.int64)), r"expected f64\[3\] as argument 1 .*, got i64\[3\]"),
        ((device_put(X.astype(np.int64)), X), r"expected f64\[3\] as argument 0 .*, got i64\[3\]"),
        ((X.reshape(1, 3), X), r"got f64\[1,3\]"),
        ((device_put(X.reshape(3, 1)), device_put(X)), r"got f64\[3,1\]"),
        ((X, 1.0), r"got ~f64\[\]"),
        ((X,), "expected 2 arguments of the compiled program, got 1"),
        ((X, X, X), "expected 2 arguments of the compiled program, got 3"),
        ((X, "a"), "got 'a'"),
    ],
    ids=range(8),
)
def test_compiled_wrong_type_is_refused_and_not_reinterpreted(total, args, text: str) -> None:
    with pytest.raises(TypeError, match=text) as caught:
        total(*args)
    assert str(caught.value).startswith(__file__)
    assert np.array_equal(total(X, X)[0], 2 * X)


def test_compiled_change_of_an_argument_after_call_does_not_show(compile_program) -> None:
    aval = ShapedArray((1_000_000,), "float64")
    compiled = compile_program(lambda record, x: record(add, x, x, out=aval), aval)
    for _ in range(20):
        x = np.ones(1_000_000)
        [out] = compiled(x)
        x[:] = 5.0
        assert np.all(np.asarray(out) == 2.0)


def test_compiled_too_little_memory_is_explained(compile_program) -> None:
    huge = ShapedArray((2**50,), "float64")
    compiled = compile_program(lambda record: record(lambda ctx: ctx.full(ctx.avals_out[0], 1), out=huge))
    for use in (compiled, lambda: device_put(np.broadcast_to(0.0, huge.shape))):
        with pytest.raises(XlaError, match="Out of memory"):
            use()


# Donation


@pytest.fixture
def donating(compile_program):
    return compile_program(lambda record, x, y: record(add, x, y, out=F64), F64, F64, donated=[0])


def test_a_donated_array_is_gone_and_its_memory_is_the_results(donating) -> None:
    x, y = device_put(X), device_put(X)
    pointer = x._buffer.unsafe_buffer_pointer()
    [out] = donating(x, y)
    assert out._buffer.unsafe_buffer_pointer() == pointer
    assert np.array_equal(out, 2 * X)
    assert x.is_deleted()
    assert not y.is_deleted()
    for use in (lambda: donating(x, y), lambda: donating(y, x), lambda: np.asarray(x), lambda: device_put(x)):
        with pytest.raises(DeletedArrayError, match=r"got the f64\[3\] donated to test as its argument 0") as caught:
            use()
        assert str(caught.value).startswith(__file__)
    assert not y.is_deleted()


def test_donation_says_so_in_the_lowered_text(program) -> None:
    closed = program(lambda record, x, y: record(add, x, y, out=F64), F64, F64)
    assert "tf.aliasing_output = 0 : i32" in backend.lower(closed, name="f", donated=[1]).as_text()
    assert "tf.aliasing_output" not in backend.lower(closed, name="f").as_text()


def test_what_fits_no_result_can_be_donated_too(compile_program) -> None:
    scalar = ShapedArray((), "float64")

    def total(ctx, x):
        return ctx.reduce(x, 0.0, [0], "add")

    compiled = compile_program(lambda record, x: record(total, x, out=scalar), F64, donated=[0])
    x = device_put(X)
    assert compiled(x)[0].item() == 3.0
    assert x.is_deleted()


@pytest.mark.parametrize("lend", [np.asarray, np.from_dlpack], ids=["view", "dlpack"])
def test_a_view_of_a_donated_array_never_changes(donating, lend) -> None:
    x = device_put(X)
    view = lend(x)
    [out] = donating(x, device_put(X))
    assert x.is_deleted()
    assert np.array_equal(out, 2 * X)
    del x
    assert np.array_equal(view, X)


def test_compiled_numpy_arguments_are_never_used_up(donating) -> None:
    x = X.copy()
    assert np.array_equal(donating(x, x)[0], 2 * X)
    assert np.array_equal(x, X)


def test_an_array_donated_and_passed_again_is_refused(donating) -> None:
    x = device_put(X)
    with pytest.raises(ArgumentValueError, match=r"donate x\.copy\(\)"):
        donating(x, x)
    assert not x.is_deleted()
    assert np.array_equal(donating(x.copy(), x)[0], 2 * X)


def test_a_constant_donated_to_its_own_program_is_refused(compile_program) -> None:
    const = device_put(X)
    compiled = compile_program(lambda record, x: record(add, x, record.const(const), out=F64), F64, donated=[0])
    with pytest.raises(ArgumentValueError, match=r"donate x\.copy\(\)"):
        compiled(const)
    assert np.array_equal(compiled(const.copy())[0], 2 * X)


def test_a_constant_that_was_donated_is_explained(compile_program, donating) -> None:
    const = device_put(X)
    compiled = compile_program(lambda record, x: record(add, x, record.const(const), out=F64), F64)
    donating(const, device_put(X))
    with pytest.raises(DeletedArrayError, match="closes over"):
        compiled(X)


# Tangents of integers


def test_compiled_float0_goes_in_and_out_as_nothing(compile_program) -> None:
    none = ShapedArray((2,), float0)

    def build(record, x, t, y):
        return [record(identity, t, out=none), record(add, x, y, out=F64), t]

    zeros = np.zeros(2, float0)
    first, total, second = compile_program(build, F64, none, F64)(X, zeros, X)
    assert first.dtype == second.dtype == float0
    assert first.shape == second.shape == (2,)
    assert np.array_equal(total, 2 * X)


# Compilation


def test_compiled_analyses_and_texts(total) -> None:
    assert total.cost_analysis()["flops"] == 3.0
    assert total.memory_analysis().output_size_in_bytes == 24
    assert "HloModule jit_test" in total.as_text()


def test_compiled_options_are_given_to_the_compiler(program) -> None:
    lowered = backend.lower(program(lambda record, x: record(add, x, x, out=F64), F64), name="f")
    assert np.array_equal(lowered.compile({"xla_backend_optimization_level": 0})(X)[0], 2 * X)
    with pytest.raises(XlaError, match="no_such_option"):
        lowered.compile({"no_such_option": True})


def test_compiled_executables_can_be_kept(program) -> None:
    closed = program(lambda record, x: record(add, x, x, out=F64), F64)
    executable = backend.lower(closed, name="f").compile()._executable
    serialized = executable.serialize()
    loaded = compilation.deserialize(serialized, executable.target, [F64])
    [out] = loaded.run([device_put(X)._buffer])
    assert np.array_equal(bindings.view(out), 2 * X)
    with pytest.raises(XlaError, match="damaged"):
        compilation.deserialize(serialized[:100], executable.target, [F64])


def test_compiled_fingerprints_tell_options_apart() -> None:
    device = clients.devices()[0]
    options = {"xla_llvm_disable_expensive_passes": True}
    assert executables.options_fingerprint(device, {}) == executables.options_fingerprint(device, {})
    assert executables.options_fingerprint(device, {}) != executables.options_fingerprint(device, options)


def test_compiled_backend_names_itself() -> None:
    assert (backend.name, backend.platform) == ("xla", "cpu")


def test_compiled_threads_lower_compile_and_run_at_once(program) -> None:
    results: dict[int, float] = {}
    start = threading.Barrier(8)
    shared = backend.lower(program(lambda record, x: record(add, x, x, out=F64), F64), name="shared")

    def work(thread: int) -> None:
        def build(record, x):
            for _ in range(20 + thread):
                x = record(add, x, 1.0 * X[1], out=ShapedArray((), "float64"))
            return x

        start.wait()
        for _ in range(3):
            compiled = backend.lower(program(build, ShapedArray((), "float64")), name=f"t{thread}").compile()
            results[thread] = compiled(np.float64(0.0))[0].item()
            assert np.array_equal(shared.compile()(X)[0], 2 * X)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {i: 20.0 + i for i in range(8)}


def test_lowering_of_100000_equations_is_linear(program) -> None:
    scalar = ShapedArray((), "float64")
    [eqn] = program(lambda record, x: record(add, x, 1.0, out=scalar), scalar).eqns

    def seconds(length: int) -> float:
        variables = [Var(scalar) for _ in range(length + 1)]
        eqns = [eqn.replace(invars=[x, eqn.invars[1]], outvars=[y]) for x, y in itertools.pairwise(variables)]
        closed = ClosedJaxpr(Jaxpr([], variables[:1], eqns, variables[-1:]))
        begin = time.perf_counter()
        backend.lower(closed, name="long")
        return time.perf_counter() - begin

    # In quadratic time it were 20 in every try; a busy machine has a slow moment now and then.
    assert any(seconds(100_000) / (20 * min(seconds(5_000) for _ in range(3))) < 4 for _ in range(4))
