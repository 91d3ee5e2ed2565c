"""``shard_map`` and ``pmap`` on eight devices compute what they do on NumPy's, with their derivatives and batches."""

import itertools
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import grad, vjp
from lawful.batching import axis_index, pmean, psum, vmap
from lawful.control_flow import while_loop
from lawful.core import ArgumentValueError
from lawful.debug import callback
from lawful.parallel import (
    Mesh,
    NamedSharding,
    devices,
    make_mesh,
    numpy_devices,
    pmap,
    shard_map,
    with_sharding_constraint,
)
from lawful.parallel import PartitionSpec as P
from lawful.staging import ShapeDtypeStruct, disable_jit, io_callback, jit, make_jaxpr

from .programs import CHECKED, PROGRAMS, Program, X, nested, nested_whole

xla_backend = pytest.importorskip("lawful.xla_backend", reason="programs run on NumPy alone where XLA is not installed")

CASES = [pytest.param(program, checked, id=f"{name}-{'checked' if checked else 'unchecked'}")
         for checked in (True, False)
         for name, program in (PROGRAMS | (CHECKED if checked else {})).items()]  # fmt: skip


def on(devices: Any) -> Mesh:
    return make_mesh((4, 2), ("x", "y"), devices=devices)


def close(got: Any, expected: Any) -> None:
    for x, y in zip(tree.leaves(got), tree.leaves(expected), strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-10, atol=1e-12)


def scalar(function: Any) -> Any:
    return lambda *args: sum((leaf * leaf).sum() for leaf in tree.leaves(function(*args)))


@pytest.mark.parametrize(("program", "checked"), CASES)
def test_devices_compute_what_numpy_does(program: Program, checked: bool) -> None:
    mapped, reference = (
        shard_map(
            program.part, mesh=on(some), in_specs=program.in_specs, out_specs=program.out_specs, check_vma=checked
        )
        for some in (devices(), numpy_devices(8))
    )
    args = program.args
    close(mapped(*args), reference(*args))
    close(jit(mapped)(*args), reference(*args))
    everything = tuple(range(len(args)))
    close(jit(grad(scalar(mapped), everything))(*args), grad(scalar(reference), everything)(*args))
    stacks = [np.stack([x, x * 0.5 + 0.3]) for x in args]
    close(jit(vmap(mapped))(*stacks), vmap(reference)(*stacks))


@pytest.mark.parametrize(("outer", "inner"), [("i", "j"), ("i", "i"), (None, None)])
def test_pmap_inside_pmap_runs_on_numpy_only(outer: str | None, inner: str | None) -> None:
    def function(some: Any) -> Any:
        mapped = pmap(lambda x, y: x * y.sum(), inner, in_axes=(0, None), devices=some)
        return pmap(lambda x: mapped(x, x) + 1, outer, devices=some)

    x = np.arange(4.0).reshape(2, 2)
    close(function(numpy_devices(2))(x), x * x.sum(1, keepdims=True) + 1)
    with pytest.raises(ArgumentValueError, match="expected one mesh for a nest of functions"):
        function(devices()[:2])(x)


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("inner", [True, False])
def test_nested_over_another_axis(inner: bool, outer: bool) -> None:
    mapped, w = nested(on(devices()), inner, outer), np.float64(0.7)
    close(mapped(X, w), nested_whole(X, w))
    close(jit(grad(scalar(mapped), (0, 1)))(X, w), grad(scalar(nested_whole), (0, 1))(X, w))


def test_results_lie_as_out_specs_say() -> None:
    mesh = on(devices())
    f = shard_map(
        lambda x: (x, psum(x, "x"), x.T),
        mesh=mesh,
        in_specs=P("x", "y"),
        out_specs=(P("x", "y"), P(None, "y"), P("y", "x")),
    )
    found = f(np.arange(32.0).reshape(8, 4))
    assert [x.sharding for x in found] == [NamedSharding(mesh, s) for s in (P("x", "y"), P(None, "y"), P("y", "x"))]
    assert {tuple(shard.data.shape) for shard in found[0].addressable_shards} == {(2, 2)}


def test_meshes_in_another_order_of_devices_number_their_axes_so() -> None:
    mesh = make_mesh((8,), ("i",), devices=devices()[::-1])
    found = shard_map(lambda: axis_index("i").reshape(1), mesh=mesh, in_specs=(), out_specs=P("i"))()
    np.testing.assert_array_equal(found, np.arange(8))
    assert [shard.device.id for shard in found.addressable_shards] == list(range(8))[::-1]


def test_spec_alone_inside_is_of_the_enclosing_mesh() -> None:
    def part(x: Any) -> Any:
        return with_sharding_constraint(x * 2.0, P("y"))

    mapped = shard_map(part, mesh=on(devices()), in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
    close(jit(mapped)(np.arange(16.0)), np.arange(16.0) * 2.0)


def test_nested_maps_over_other_axes_compute_what_one_does() -> None:
    mesh = on(devices())
    x = np.arange(32.0).reshape(8, 4)

    def inner(part: Any) -> Any:
        return part / psum(psum(part.sum(), "x"), "y")

    nested = shard_map(
        lambda part: shard_map(inner, mesh=mesh, in_specs=P(None, "y"), out_specs=P(None, "y"), axis_names={"y"})(part),
        mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"},
    )  # fmt: skip
    close(jit(nested)(x), x / x.sum())
    close(jit(grad(scalar(nested)))(x), grad(scalar(lambda x: x / x.sum()))(x))


def test_the_compiler_has_the_axes_that_are_not_named() -> None:
    mesh = on(devices())
    x = np.arange(32.0).reshape(8, 4)
    f = jit(
        shard_map(
            lambda part: part @ part.T + psum(part.sum(), "x"),
            mesh=mesh,
            in_specs=P("x"),
            out_specs=P("x"),
            axis_names={"x"},
        ),
        in_shardings=NamedSharding(mesh, P("x", "y")),
    )
    parts = x.reshape(4, 2, 4)
    close(f(x), np.concatenate([part @ part.T for part in parts]) + x.sum())


@pytest.mark.parametrize("checked", [True, False])
def test_vmap_spmd_axis_name_of_a_derivative(checked: bool) -> None:
    """The batch is split over an axis that the mapped function does not use, and neither do its derivatives."""
    f = shard_map(
        lambda x: ops.sin(psum(ops.sin(x).sum(), "x")), mesh=on(devices()), in_specs=P("x"), out_specs=P(),
        check_vma=checked,
    )  # fmt: skip
    stack = np.stack([X[:, 0], X[:, 1]])
    for derivative in (grad(f), jit(grad(f)), grad(lambda x: grad(f)(x).sum())):
        got = vmap(derivative, spmd_axis_name="y")(stack)
        close(got, np.stack([derivative(x) for x in stack]))
        assert got.sharding.spec == P("y", "x")


@pytest.mark.parametrize("checked", [True, False])
def test_vmap_spmd_axis_name_beside_a_debug_callback(checked: bool) -> None:
    """A callback without results makes no value vary over the axis that splits the batch."""
    seen = []

    def part(x: Any) -> Any:
        callback(lambda total: seen.append(float(total)), x.sum())
        return psum((x**3).sum(), "x")

    f = shard_map(part, mesh=on(devices()), in_specs=P("x"), out_specs=P(), check_vma=checked)
    stack = np.arange(1.0, 17.0).reshape(2, 8)
    close(jit(vmap(grad(f), spmd_axis_name="y"))(stack), 3.0 * stack**2)
    assert {*seen} == {*stack.reshape(2, 4, 2).sum(2).ravel()}


def test_unchecked_derivative_names_used_axes_only() -> None:
    """Along the others nothing varies: residuals are whole, and cotangents are not summed."""
    f = shard_map(lambda x: ops.sin(x), mesh=on(devices()), in_specs=P("x"), out_specs=P("x"), check_vma=False)
    assert "psum" not in str(make_jaxpr(grad(lambda x: f(x).sum()))(X))
    for eqn in make_jaxpr(lambda x: vjp(f, x)[0])(X).eqns:
        assert "y" not in str(eqn.params.get("out_specs"))


def test_unchecked_derivative_of_an_effect() -> None:
    """Results of functions with effects can vary over axes that the program does not name."""
    numbers = itertools.count(1)

    def f(x: Any) -> Any:
        return x * x * io_callback(lambda: np.float64(next(numbers)), ShapeDtypeStruct((), np.float64))

    mapped = shard_map(f, mesh=on(devices()), in_specs=P("x"), out_specs=P(("x", "y")), check_vma=False)
    x = np.arange(1.0, 5.0)
    out, pullback = vjp(mapped, x)
    found = np.asarray(out).reshape(4, 2) / x[:, None] ** 2
    assert sorted(found.ravel()) == [*range(1, 9)]
    close(pullback(np.ones(8))[0], 2.0 * x * found.sum(1))
    [first, *_] = make_jaxpr(lambda x: vjp(mapped, x)[0])(x).eqns
    residuals = first.params["out_specs"][1:]
    assert residuals
    assert all([spec[0] == ("x", "y") for spec in residuals])


@pytest.mark.parametrize("sizes", [(1, 1), (1, 2), (4, 1)])
def test_axes_of_one_device_are_mapped_over_too(sizes: tuple[int, int]) -> None:
    mesh = make_mesh(sizes, ("x", "y"), devices=devices()[: sizes[0] * sizes[1]])
    x = np.arange(32.0).reshape(8, 4)
    for names in ({"x"}, {"y"}, {"x", "y"}):
        axes = tuple(sorted(names))
        f = shard_map(
            lambda part, axes=axes: part * (axis_index(axes) + 1) / psum(part.sum(), axes),
            mesh=mesh, in_specs=P(axes), out_specs=P(axes), axis_names=names,
        )  # fmt: skip
        count = np.prod([mesh.shape[axis] for axis in axes])
        factors = np.repeat(np.arange(count) + 1, 8 // count)[:, None]
        close(f(x), x * factors / x.sum())
        close(jit(grad(scalar(f)))(x), grad(scalar(lambda x, factors=factors: x * factors / x.sum()))(x))
    close(jit(lambda x: x @ x.T, in_shardings=NamedSharding(mesh, P("x", "y")))(x), x @ x.T)


def test_each_device_calls_python_for_itself() -> None:
    seen: list[tuple[int, Any]] = []

    def f(x: Any) -> Any:
        callback(lambda i, part: seen.append((int(i), part.tolist())), axis_index("x"), x)
        return x * 2.0

    mapped = shard_map(f, mesh=make_mesh((4,), ("x",), devices=devices()[:4]), in_specs=P("x"), out_specs=P("x"))
    x = np.arange(4.0)
    for call in (mapped, jit(mapped), pmap(f, "x")):
        seen.clear()
        close(call(x), x * 2.0)
        assert [i for i, _ in sorted(seen)] == [0, 1, 2, 3]


def test_an_error_in_python_leaves_devices_usable() -> None:
    def fails(x: Any) -> Any:
        callback(lambda part: 1 / 0, x)
        return x

    mapped = shard_map(fails, mesh=on(devices()), in_specs=P("x"), out_specs=P("x"))
    with pytest.raises(ZeroDivisionError):
        jit(mapped)(np.arange(8.0))
    close(shard_map(lambda x: x, mesh=on(devices()), in_specs=P("x"), out_specs=P("x"))(np.arange(8.0)), np.arange(8.0))


def test_callbacks_run_on_each_device() -> None:
    mesh, seen = on(devices()), []

    def part(x: Any) -> Any:
        io_callback(lambda x: seen.append(x.tolist()), None, x, ordered=True)
        return 2.0 * x

    mapped = shard_map(part, mesh=mesh, in_specs=P(("x", "y")), out_specs=P(("x", "y")))
    x = np.arange(8.0)
    for function in (mapped, jit(mapped)):
        seen.clear()
        np.testing.assert_array_equal(function(x), 2.0 * x)
        assert sorted(seen) == [[n] for n in x.tolist()]


def test_nested_shard_map_maps_over_the_other_axes() -> None:
    """Inside, the default ``axis_names`` are those that are not mapped over already."""
    x = np.arange(32.0).reshape(4, 8)
    for mesh in (on(devices()), on(numpy_devices(8))):

        def inner(x: Any, mesh: Mesh = mesh) -> Any:
            return shard_map(lambda x: x - pmean(x, "y"), mesh=mesh, in_specs=P(None, "y"), out_specs=P(None, "y"))(x)

        mapped = shard_map(inner, mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
        expected = (x.reshape(4, 2, 4) - x.reshape(4, 2, 4).mean(1, keepdims=True)).reshape(4, 8)
        close(mapped(x), expected)

        def again(x: Any, mesh: Mesh = mesh) -> Any:
            return shard_map(lambda x: x, mesh=mesh, in_specs=P(), out_specs=P(), axis_names={"x", "y"})(x)

        with pytest.raises(ArgumentValueError, match="not mapped over already, got 'x'"):
            shard_map(again, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)


def test_shard_map_runs_where_jit_is_disabled() -> None:
    mapped = shard_map(lambda x: x - pmean(x, "x"), mesh=on(devices()), in_specs=P("x"), out_specs=P("x"))
    with disable_jit():
        np.testing.assert_array_equal(mapped(np.arange(4.0)), np.arange(4.0) - 1.5)


def test_while_loop_with_a_varying_predicate_in_a_branch() -> None:
    """Constants of a branch that devices take differently vary, also those of a predicate."""

    def part(x: Any) -> Any:
        def outer(x: Any) -> Any:
            _, y = while_loop(lambda pair: pair[0] < 2.0, lambda pair: (pair[0] + 1.0, pair[1] + x[1]), (0.0, 0.0))
            return x[0] + 1.0, y

        return while_loop(lambda x: x[0] < 3.0, outer, (x, 1.0 + 0.0 * x))[1]

    x = np.arange(4.0)
    for some in (devices(), numpy_devices(8)):
        mapped = shard_map(lambda x: part(x[0])[None], mesh=on(some), in_specs=P("x"), out_specs=P("x"))
        close(mapped(x), np.array([8.0, 4.0, 2.0, 1.0]))


@pytest.mark.parametrize("checked", [True, False])
def test_shard_map_over_some_axes_has_effects(checked: bool) -> None:
    """Each device calls, also along the axis that the compiler has."""
    seen: list[float] = []

    def f(x: Any) -> Any:
        callback(lambda total: seen.append(float(total)), x.sum())
        io_callback(lambda total: seen.append(-float(total)), None, x.sum())
        return while_loop(
            lambda s: s[0] < 2, lambda s: (callback(lambda i: seen.append(int(i)), s[0]), (s[0] + 1, s[1] * 2.0))[1],
            (0, x),
        )[1]  # fmt: skip

    mapped = shard_map(f, mesh=on(devices()), in_specs=P("x"), out_specs=P("x"), axis_names={"x"}, check_vma=checked)
    totals = [float(part.sum()) for part in np.split(X, 4)]
    for function in (mapped, jit(mapped)):
        seen.clear()
        close(function(X), 4.0 * X)
        np.testing.assert_allclose(sorted(seen), sorted([*totals * 2, *[-t for t in totals] * 2, *[0, 1] * 8]))


def test_io_callback_with_a_result_over_some_axes_is_an_error() -> None:
    f = shard_map(
        lambda x: io_callback(lambda x: x, x, x), mesh=on(devices()), in_specs=P("x"), out_specs=P("x"),
        axis_names={"x"},
    )  # fmt: skip
    with pytest.raises(xla_backend.LoweringError, match="over all axes of its mesh around 'io_callback'"):
        f(X)


@pytest.mark.parametrize("names", [(), ("x",)])
@pytest.mark.parametrize("compile", [jit, lambda f: f], ids=["compiled", "eager"])
def test_shard_map_without_results_calls_functions(compile: Any, names: tuple[str, ...]) -> None:
    """A Python function is called on each device, also where there is neither an argument nor a result."""
    seen: list[int] = []

    def tell(*_: Any) -> None:
        callback(lambda i: seen.append(int(i)), axis_index("x"))

    for specs, args in ((P("x"), (np.arange(8.0),)), ((), ())):
        mapped = shard_map(tell, mesh=on(devices()), in_specs=specs, out_specs=None, axis_names={*names})
        assert compile(mapped)(*args) is None
        assert sorted(seen) == sorted([*range(4)] * 2)
        seen.clear()
