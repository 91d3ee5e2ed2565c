"""A program runs where its arguments are: sharded, it gives the values that it gives on one device."""

import threading
import time

import numpy as np
import pytest

from lawful import ops
from lawful.core import Primitive
from lawful.debug import callback as debug_callback
from lawful.staging import clear_caches, io_callback, jit, pure_callback
from lawful.xla_backend import (
    Array,
    DeletedArrayError,
    XlaError,
    cache_info,
    device_put,
    devices,
    set_cache_dir,
)
from lawful.xla_backend._runtime import executables

from .test_sharded_arrays import check_shards

X = np.arange(64.0).reshape(8, 8)

constrain_p = Primitive("test_constrain")
constrain_p.def_abstract_eval(lambda x, *, sharding: x)
constrain_p.def_impl(lambda x, *, sharding: x)
constrain_p.def_lowering(lambda ctx, x, *, sharding: ctx.constrain(x, sharding))


def constrain(x, sharding):
    return constrain_p.bind(x, sharding=sharding)


def several(x, y):
    return x + y, x @ y.T, x.sum(), x.sum(0), x.T, x[1:4, ::2], ops.reshape(x, (2, 4, 8)), x > y, 3


@pytest.mark.parametrize("other_spec", [(), ("b", "a"), (("a", "b"),)], ids=str)
def test_program_follows_its_arguments(grid, spec, other_spec) -> None:
    y = np.cos(X)
    function = jit(several)
    for _ in range(3):
        results = function(device_put(X, grid(*spec)), device_put(y, grid(*other_spec)))
        for found, expected in zip(results, several(X, y), strict=True):
            if np.ndim(expected):
                assert found.devices() == {*devices()}
                np.testing.assert_allclose(found, expected, atol=1e-12)
                check_shards(found, np.asarray(found))


def test_program_results_have_specs(grid) -> None:
    x = device_put(X, grid("a", "b"))
    double, transposed, row, total = jit(lambda x: (x * 2.0, x.T, x.sum(0), x.sum()))(x)
    assert double.sharding == grid("a", "b")
    assert transposed.sharding == grid("b", "a")
    assert row.sharding == grid("b")
    assert total.sharding == grid()
    assert jit(lambda x: x + 1.0)(double).sharding == grid("a", "b")
    for spec in [(("a", "b"),), (("b", "a"),), ((), ("b", "a"))]:
        assert jit(lambda x: x + 1.0)(device_put(X, grid(*spec))).sharding == grid(*spec)


def test_program_arguments_not_sharded_are_replicated(grid) -> None:
    x = device_put(X, grid("a"))
    f = jit(lambda x, y: x * y)
    for other in (X, device_put(X), device_put(X, devices()[0]), 2.0, np.float64(2.0)):
        for _ in range(3):
            found = f(x, other)
            assert found.devices() == {*devices()}
            np.testing.assert_array_equal(found, X * np.asarray(other))


def test_program_arguments_on_different_devices(grid) -> None:
    x, f = device_put(X, grid("a", "b")), jit(lambda x, y: x + y)
    message = r"expected all Arrays on the same devices.*'a': 4.*\[cpu:0.*and .*{} on \[{}"
    for other, named, first in [
        (device_put(X, devices()[3]), "an Array", "cpu:3"),
        (device_put(X, grid("q", axes={"q": 2}, on=devices()[4:6])), "'q': 2", "cpu:4"),
        (device_put(X, grid("a", "b", on=devices()[::-1])), "'a': 4", "cpu:7"),
    ]:
        with pytest.raises(ValueError, match=message.format(f".*{named}.*", first)):
            f(x, other)


def test_program_meshes_over_the_same_devices(grid) -> None:
    x, y = device_put(X, grid("a", "b")), device_put(X, grid("q", axes={"q": 8}))
    found = jit(lambda x, y: x + y)(x, y)
    check_shards(found, X + X)


def test_program_result_without_a_spec(grid) -> None:
    """Both factors of an axis split a dimension of their own."""
    x = device_put(np.arange(64.0), grid("q", axes={"q": 8}))
    y = device_put(np.arange(64.0).reshape(4, 16), grid("r", axes={"r": 4, "s": 2}))
    square = jit(lambda x, y: ops.reshape(x, (4, 16)) + y)(x, y)
    check_shards(square, 2 * np.arange(64.0).reshape(4, 16))
    check_shards(jit(lambda x: x * 2.0)(square), 4 * np.arange(64.0).reshape(4, 16))


def test_tiled_sharding_of_any_assignment(grid) -> None:
    """A sharding that the compiler chose and no spec describes works as others do."""
    from lawful.xla_backend._arrays.tiling import TiledSharding, sharding_of

    rng = np.random.default_rng(0)
    for shape in [(8, 1, 1), (2, 2, 2), (4, 1, 2), (1, 4, 2), (1, 1, 8)]:
        assignment = rng.permutation(8).reshape(shape)
        sharding = sharding_of(assignment, [grid()])
        x = device_put(X, sharding)
        check_shards(x, X)
        check_shards(device_put(x, grid("a", "b")), X)
        check_shards(device_put(device_put(X, grid("b")), sharding), X)
        check_shards(jit(lambda x: x * 3.0 + X)(x), X * 3.0 + X)
        assert sharding == (grid() if shape == (1, 1, 8) else TiledSharding(tuple(devices()), assignment))
    with pytest.raises(ValueError, match=r"dimension 1 of the shape .* multiple of 4"):
        TiledSharding(tuple(devices()), np.arange(8).reshape(1, 4, 2)).shard_shape((7, 7))


def test_program_names_a_mesh(grid) -> None:
    f = jit(lambda x: constrain(x * 2.0, grid("a")))
    for given in (X, device_put(X), device_put(X, grid("b", "a")), device_put(X, grid("a")), X):
        for _ in range(2):
            found = f(given)
            assert found.sharding == grid("a")
            check_shards(found, X * 2.0)
    assert 'sdy.mesh @mesh = <["a"=4, "b"=2]>' in f.lower(X).as_text()


def test_program_names_a_mesh_of_other_devices(grid) -> None:
    two = grid("q", axes={"q": 2}, on=devices()[6:])
    f = jit(lambda x: constrain(x, two))
    for given in (X, device_put(X), device_put(X, two)):
        assert f(given).devices() == {*devices()[6:]}
    with pytest.raises(ValueError, match=r"a mesh that the program names on \[cpu:6, cpu:7\] and an Array on \[cpu:2"):
        f(device_put(X, devices()[2]))
    with pytest.raises(ValueError, match=r"expected one order of devices in a program.*cpu:6, cpu:7.*cpu:0"):
        jit(lambda x: constrain(constrain(x, two), grid("a")))(X)
    with pytest.raises(ValueError, match="multiple of 4"):
        jit(lambda x: constrain(x[:6], grid("a")))(X)


def test_program_constraint_in_branches_and_functions(grid) -> None:
    inner = jit(lambda x: constrain(x, grid("a")) + 1.0)
    found = jit(lambda x: inner(inner(x)) * 2.0)(device_put(X, grid("b")))
    check_shards(found, (X + 2.0) * 2.0)


def test_program_on_a_mesh_of_one_device(grid) -> None:
    one = grid("q", axes={"q": 1}, on=devices()[5:6])
    x = device_put(X, one)
    assert x.device is devices()[5]
    found = jit(lambda x, y: x + y)(x, 1.0)
    assert found.devices() == {devices()[5]}
    np.testing.assert_array_equal(found, X + 1.0)
    np.testing.assert_array_equal(jit(lambda x: constrain(x, one))(X), X)


def test_program_constants(grid) -> None:
    large, sharded = np.arange(800.0).reshape(8, 100), device_put(X, grid("q", axes={"q": 8}))
    f = jit(lambda x: (large * x.sum(), sharded + x))
    for given in (X, device_put(X), device_put(X, grid("a", "b"))):
        scaled, added = f(given)
        np.testing.assert_array_equal(scaled, large * X.sum())
        assert added.devices() == {*devices()}
        np.testing.assert_array_equal(added, X + X)


def test_program_donated_arguments(grid, spec) -> None:
    f = jit(lambda x, y: (x + y, (x * y).sum()), donate_argnums=0)
    for size in (8, 512):
        values = np.full((size, size), 2.0)
        for _ in range(3):
            x, y = device_put(values, grid(*spec)), device_put(values, grid("a"))
            view, shards = np.asarray(x), x.addressable_shards
            added, _ = f(x, y)
            assert x.is_deleted()
            assert np.all(np.asarray(added) == 4.0)
            assert np.all(view == 2.0)
            assert np.all(np.asarray(y) == 2.0)
            assert np.all(values == 2.0)
    with pytest.raises(DeletedArrayError, match="donated to"):
        f(x, y)
    for shard in shards:
        try:
            assert np.all(np.asarray(shard.data) == 2.0)
        except DeletedArrayError as error:
            assert "donated" in str(error)  # noqa: PT017  # the runtime may have copied the part


def test_program_calls_python_once(grid) -> None:
    calls = []

    def called(x):
        calls.append(x.copy())
        return x * 2.0

    for callback in (pure_callback, io_callback, lambda *args: io_callback(*args, ordered=True)):
        calls.clear()
        plain, added = jit(lambda x, callback=callback: (callback(called, x, x), callback(called, x, x + 1.0) + x))(
            device_put(X, grid("a", "b"))
        )
        check_shards(plain, X * 2.0)
        check_shards(added, (X + 1.0) * 2.0 + X)
        assert len(calls) == 2
        assert all(call.shape == X.shape for call in calls)
    calls.clear()
    jit(lambda x: debug_callback(called, x))(device_put(X, grid("a")))
    assert len(calls) == 1


def test_program_callback_raises(grid) -> None:
    def fail(x):
        raise KeyError("the function's own")

    for _ in range(2):
        with pytest.raises(KeyError, match="the function's own"):
            jit(lambda x: pure_callback(fail, x, x))(device_put(X, grid("a")))
    check_shards(jit(lambda x: x + 1.0)(device_put(X, grid("a"))), X + 1.0)


def test_program_callback_raises_in_a_loop(grid) -> None:
    """Later calls are not made, and the next run begins anew."""
    calls = []

    def fail_at_two(x):
        calls.append(1)
        if len(calls) == 2:
            raise KeyError("the second call")
        return x

    f = jit(lambda x: [x := io_callback(fail_at_two, x, x + 1.0, ordered=True) for _ in range(4)][-1])
    with pytest.raises(KeyError, match="the second call"):
        f(device_put(X, grid("a")))
    assert len(calls) == 2
    check_shards(f(device_put(X, grid("a"))), X + 4.0)


def test_program_callback_runs_another_program(grid) -> None:
    sharded = device_put(X, grid("a"))
    inner = jit(lambda x: x @ x.T)

    def on_one(x):
        return np.asarray(inner(device_put(x)))

    def on_several(x):
        return np.asarray(inner(sharded))

    check_shards(jit(lambda x: pure_callback(on_one, x, x))(sharded), X @ X.T)
    with pytest.raises(XlaError, match="expected a program on one device in a Python function"):
        jit(lambda x: pure_callback(on_several, x, x))(sharded)
    check_shards(inner(sharded), X @ X.T)


def test_program_is_compiled_once(grid, tmp_path) -> None:
    set_cache_dir(tmp_path)
    try:
        for n in range(3):
            clear_caches()  # else an equal jaxpr, traced before, has its compiled program
            f = jit(lambda x: (x @ x.T, x.sum(0)))
            for _ in range(3):
                for source in (grid("a", "b"), grid("b")):
                    product, column = f(device_put(X, source))
                    np.testing.assert_array_equal(product, X @ X.T)
                    check_shards(column, X.sum(0))
            # One module for each sharding; none for a single device, on which it does not run.
            assert cache_info().misses == 2
            assert cache_info().hits == 2 * n
    finally:
        set_cache_dir(None)


def test_program_of_sharded_arrays_runs_on_host_values(grid) -> None:
    f = jit(lambda x: x @ x.T)
    for _ in range(3):
        np.testing.assert_array_equal(f(device_put(X, grid("a", "b"))), X @ X.T)
        for x in (X, device_put(X), device_put(X, devices()[3])):
            found = f(x)
            np.testing.assert_array_equal(found, X @ X.T)
            assert found.sharding.device_order == (devices()[0] if x is X else x.sharding.device_order[0],)


def test_program_stages(grid) -> None:
    compiled = jit(lambda x: x @ x.T).lower(X).compile()
    x = device_put(X, grid("a", "b"))
    np.testing.assert_array_equal(compiled(x), X @ X.T)
    on_mesh = jit(lambda x: constrain(x @ x.T, grid("a"))).lower(X).compile()
    assert on_mesh.cost_analysis()["flops"] > 0
    assert on_mesh.memory_analysis().output_size_in_bytes > 0
    assert "num_partitions=8" in on_mesh.as_text()
    np.testing.assert_array_equal(on_mesh(x), X @ X.T)


def test_program_argument_of_another_type(grid) -> None:
    compiled = jit(lambda x: constrain(x, grid("a"))).lower(X).compile()
    for bad in (X.astype("int64"), device_put(X.astype("int64"), grid("a")), X[:4], X.reshape(4, 16)):
        with pytest.raises(TypeError):
            compiled(bad)


def test_program_many_calls_and_threads_do_not_hang(grid) -> None:
    """In jaxlib 0.11, 32 running programs with collectives wait for each other for ever.

    Without the lock of `_in_order` one run of this test in fifty ends so, when the machine is busy.
    """
    f, x = jit(lambda x: ops.tanh(x @ x.T @ x)), device_put(X / 64.0, grid("a", "b"))
    expected = np.asarray(f(x))
    found = []

    def work() -> None:
        results = [f(x) for _ in range(150)]
        # The last one too, so that the process does not end while programs run.
        found.extend(bool(np.array_equal(result, expected)) for result in (results[0], results[75], results[-1]))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 9


def test_program_is_started_by_one_thread_at_a_time() -> None:
    class Loaded:
        starting, most = 0, 0

        def execute_sharded(self, buffers, with_tokens=False):
            self.starting += 1
            self.most = max(self.most, self.starting)
            time.sleep(0.001)  # another thread runs
            self.starting -= 1
            return buffers

    loaded = Loaded()
    execute = executables._in_order(loaded)
    threads = [threading.Thread(target=lambda: [execute([]) for _ in range(20)]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loaded.most == 1


def test_program_results_are_arrays(grid) -> None:
    x = device_put(1.0, grid())
    found = jit(lambda x: x + 1.0)(x)
    assert type(found) is Array
    assert found.weak_type
    assert found.sharding == grid()


def test_program_many_shardings_are_bounded(grid) -> None:
    from lawful.staging import cache_report

    f = jit(lambda x: x + 1.0)
    for n in range(3):
        for axes in ({"a": 8}, {"b": 4, "c": 2}):
            for spec in ((), tuple(axes)[:1], ((), next(iter(axes)))):
                f(device_put(X + n, grid(*spec, axes=axes)))
    [use] = [use for use in cache_report().caches if use.name == "programs on other devices"]
    assert use.limit == 64
