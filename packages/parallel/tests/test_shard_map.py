"""``shard_map`` computes what the function of whole arrays does, under every transformation."""

import gc
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import checkpoint, grad, jvp, linearize, peak_memory, vjp
from lawful.batching import all_gather, psum, pvary, vmap
from lawful.control_flow import cond, fori_loop, scan, while_loop
from lawful.core import Hook, Trace, check_jaxpr, current, is_plain, plain
from lawful.parallel import Mesh, get_mesh, make_mesh, numpy_devices, set_mesh, shard_map
from lawful.parallel import PartitionSpec as P
from lawful.staging import jit, make_jaxpr

from .programs import CHECKED, PROGRAMS, Program, W, X, nested, nested_whole

rng = np.random.default_rng(2929)
CASES = [pytest.param(program, checked, id=f"{name}-{'checked' if checked else 'unchecked'}")
         for checked in (True, False)
         for name, program in (PROGRAMS | (CHECKED if checked else {})).items()]  # fmt: skip


@pytest.fixture
def mesh() -> Mesh:
    return make_mesh((4, 2), ("x", "y"), devices=numpy_devices(8))


def functions(mesh: Mesh, program: Program, checked: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Returns the mapped and the whole function, with one array as their result."""
    mapped = shard_map(
        program.part, mesh=mesh, in_specs=program.in_specs, out_specs=program.out_specs, check_vma=checked
    )
    return mapped, program.whole


def close(got: Any, expected: Any) -> None:
    leaves, treedef = tree.flatten(got)
    others, other_treedef = tree.flatten(expected)
    assert treedef == other_treedef
    for x, y in zip(leaves, others, strict=True):
        assert np.shape(x) == np.shape(y)
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)


def scalar(function: Callable[..., Any]) -> Callable[..., Any]:
    def total(*args: Any) -> Any:
        return sum((leaf * leaf).sum() for leaf in tree.leaves(function(*args)))

    return total


@pytest.mark.parametrize(("program", "checked"), CASES)
def test_values_are_those_of_the_whole_function(mesh: Mesh, program: Program, checked: bool) -> None:
    mapped, whole = functions(mesh, program, checked)
    close(mapped(*program.args), whole(*program.args))
    close(jit(mapped, backend="numpy")(*program.args), whole(*program.args))
    jaxpr = make_jaxpr(mapped)(*program.args)
    check_jaxpr(jaxpr)


@pytest.mark.parametrize(("program", "checked"), CASES)
def test_derivatives_are_those_of_the_whole_function(mesh: Mesh, program: Program, checked: bool) -> None:
    mapped, whole = functions(mesh, program, checked)
    args = program.args
    tangents = tuple([rng.normal(size=x.shape) for x in args])
    expected = jvp(whole, args, tangents)
    close(jvp(mapped, args, tangents), expected)
    close(linearize(mapped, *args)[1](*tangents), expected[1])
    out, pullback = vjp(mapped, *args)
    cts = tree.map(lambda x: rng.normal(size=np.shape(x)), out)
    close(pullback(cts), vjp(whole, *args)[1](cts))
    everything = tuple(range(len(args)))
    gradient = grad(scalar(whole), everything)(*args)
    close(jit(grad(scalar(mapped), everything), backend="numpy")(*args), gradient)
    close(grad(scalar(checkpoint(mapped)), everything)(*args), gradient)
    with plain():
        close(grad(scalar(mapped), everything)(*args), gradient)
    check_jaxpr(make_jaxpr(grad(scalar(mapped), everything))(*args))


@pytest.mark.parametrize(("program", "checked"), CASES)
def test_second_derivatives_are_those_of_the_whole_function(mesh: Mesh, program: Program, checked: bool) -> None:
    mapped, whole = functions(mesh, program, checked)
    args = program.args
    direction = rng.normal(size=args[0].shape)

    def along(function: Callable[..., Any], x: Any) -> Any:
        return jvp(lambda x: grad(scalar(function))(x, *args[1:]), (x,), (direction,))[1]

    close(along(mapped, args[0]), along(whole, args[0]))
    twice = grad(lambda x: (grad(scalar(mapped))(x, *args[1:]) * direction).sum())
    close(twice(args[0]), along(whole, args[0]))


@pytest.mark.parametrize(("program", "checked"), CASES)
def test_batches_are_those_of_the_whole_function(mesh: Mesh, program: Program, checked: bool) -> None:
    mapped, whole = functions(mesh, program, checked)
    stacked = [np.stack([x, x * 0.5 + 0.3, x * 1.1]) for x in program.args]
    close(vmap(mapped)(*stacked), vmap(whole)(*stacked))
    axes = (0, *[None] * (len(stacked) - 1))
    first = (stacked[0], *program.args[1:])
    close(vmap(grad(scalar(mapped)), axes)(*first), vmap(grad(scalar(whole)), axes)(*first))


@pytest.mark.parametrize("checked", [True, False])
def test_axis_of_the_mesh_hides_that_of_vmap_outside(mesh: Mesh, checked: bool) -> None:
    mapped = shard_map(lambda x: psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=checked)
    stack = rng.normal(size=(3, 8))
    close(vmap(mapped, axis_name="x")(stack), np.stack([mapped(x) for x in stack]))
    close(vmap(jit(mapped, backend="numpy"), axis_name="x")(stack), np.stack([mapped(x) for x in stack]))


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("inner", [True, False])
def test_nested_over_another_axis(mesh: Mesh, inner: bool, outer: bool) -> None:
    mapped, w = nested(mesh, inner, outer), np.float64(0.7)
    close(mapped(X, w), nested_whole(X, w))
    close(jit(grad(scalar(mapped), (0, 1)), backend="numpy")(X, w), grad(scalar(nested_whole), (0, 1))(X, w))
    close(vmap(mapped, (None, 0))(X, np.array([0.7, 0.4])), vmap(nested_whole, (None, 0))(X, np.array([0.7, 0.4])))


@pytest.mark.parametrize("checked", [True, False])
def test_nested_tangent_varies_where_its_primal_does_not(mesh: Mesh, checked: bool) -> None:
    def outer(x: Any, t: Any) -> Any:
        inner = shard_map(np.sin, mesh=mesh, in_specs=P("y"), out_specs=P("y"), axis_names={"y"}, check_vma=checked)
        return jvp(inner, (x,), (t,))[1]

    mapped = shard_map(outer, mesh=mesh, in_specs=(P(), P("x")), out_specs=P("x"), axis_names={"x"})
    x, t = np.arange(2.0), np.arange(8.0)
    close(mapped(x, t), (np.cos(x) * t.reshape(4, 2)).reshape(8))
    close(jit(mapped, backend="numpy")(x, t), mapped(x, t))


def test_nested_without_a_mesh_maps_over_the_enclosing_one(mesh: Mesh) -> None:
    seen = []

    def outer(x: Any) -> Any:
        seen.append(get_mesh())
        return shard_map(lambda x: x - psum(x, "y"), in_specs=P("y"), out_specs=P("y"))(x)

    nested = shard_map(outer, mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
    x = np.arange(16.0)
    pairs = x.reshape(4, 2, 2)
    close(nested(x), (pairs - pairs.sum(1, keepdims=True)).reshape(16))
    assert seen == [mesh]
    assert get_mesh() is None


def test_mesh_of_the_context_is_restored_after_an_error(mesh: Mesh) -> None:
    def failing(x: Any) -> Any:
        set_mesh(mesh)  # for the rest of the function
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        shard_map(failing, mesh=mesh, in_specs=P(), out_specs=P())(1.0)
    assert get_mesh() is None


@pytest.mark.fast
def test_shard_map_traced_in_a_thread_leaves_others_fast(mesh: Mesh) -> None:
    hook = Hook("of a test", "plain")
    hook.install("fast")
    seen: list[Any] = []

    def part(x: Any) -> Any:
        seen.append(hook.for_traces)
        with ThreadPoolExecutor(1) as pool:
            seen.append(pool.submit(lambda: (hook.for_traces, is_plain())).result())
        return x

    shard_map(part, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(X)
    assert seen == ["plain", ("fast", False)]
    assert hook.for_traces == "fast"


def test_shard_map_checked_trace_is_freed_without_a_collection(mesh: Mesh) -> None:
    """A trace holds the constants of its program. The values that it cast to vary over axes do not keep it alive."""
    traces: list[weakref.ref[Trace]] = []

    def part(x: Any, scale: Any) -> Any:
        traces.append(weakref.ref(current.trace))
        return x * scale + scale

    mapped = shard_map(part, mesh=mesh, in_specs=(P("x"), P()), out_specs=P("x"))
    gc.disable()
    try:
        make_jaxpr(mapped)(np.ones(4), 2.0)
        assert [trace() for trace in traces] == [None]
    finally:
        gc.enable()


def test_shard_map_checked_peak_memory_is_that_of_plain(mesh: Mesh) -> None:
    found: list[str] = []

    def part(x: Any, scale: Any) -> Any:
        found.append(str(peak_memory(lambda scale: (np.sin(x * scale) * scale).sum())(scale)))
        return x

    mapped = shard_map(part, mesh=mesh, in_specs=(P("x"), P()), out_specs=P("x"))
    make_jaxpr(mapped)(np.ones(8), np.float64(0.7))
    with plain():
        make_jaxpr(mapped)(np.ones(8), np.float64(0.7))
    assert found[0] == found[1]


def test_shard_map_passes_objects_under_none_in_specs(mesh: Mesh) -> None:
    """An object is passed as it is; an array under None is whole on all devices, also for derivatives."""
    marker, seen = object(), []

    def part(options: Any, x: Any, nothing: Any, factor: Any) -> Any:
        seen.append((options["marker"], nothing))
        return factor * x

    specs = (None, P("x"), None, None)
    mapped = shard_map(part, mesh=mesh, in_specs=specs, out_specs=P("x"))
    close(mapped({"marker": marker}, X, None, 3.0), 3.0 * X)
    close(jit(mapped, static_argnums=0, backend="numpy")(Options(marker=marker), X, None, 3.0), 3.0 * X)
    close(grad(scalar(lambda factor: mapped({"marker": marker}, X, None, factor)))(3.0), 6.0 * (X * X).sum())
    assert all(found is marker and nothing is None for found, nothing in seen)


def test_shard_map_of_no_result_takes_out_specs_none(mesh: Mesh) -> None:
    assert shard_map(lambda x: None, mesh=mesh, in_specs=P("x"), out_specs=None)(X) is None


class Options(dict[str, Any]):
    def __hash__(self) -> int:
        return 0


def test_shard_map_casts_a_value_once_for_all_uses(mesh: Mesh) -> None:
    """Casts by the user, by a collective and by the out_specs are one: its transpose is one sum over devices."""

    def part(w: Any) -> Any:
        w = w * 2.0
        return pvary(w, "x"), all_gather(w, "x", tiled=True), w

    mapped = shard_map(part, mesh=mesh, in_specs=P(), out_specs=(P("x"), P("x"), P("x")))
    gradient = make_jaxpr(grad(lambda w: sum([x.sum() for x in mapped(w)])))(W)
    assert str(gradient).count("= psum_invariant[") + str(gradient).count("= psum[") == 1


def multiplied_thrice(x: Any, **options: Any) -> Any:
    return while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * ops.sin(s[1])), (0, x), **options)[1]


@pytest.mark.parametrize("by_jit", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        ops.sin,
        jit(ops.sin, backend="numpy"),
        checkpoint(lambda x: ops.sin(ops.sin(x))),
        lambda x: fori_loop(0, 3, lambda i, c: c * ops.sin(c), x),
        lambda x: scan(lambda c, _: (c * ops.sin(c), c), x, None, 4, checkpoints=2)[0],
        lambda x: cond(ops.reduce_sum(x, (0,)) > 0, ops.sin, ops.cos, x),
        lambda x: multiplied_thrice(x, checkpoints=2),
        lambda x: multiplied_thrice(x, max_iters=4),
    ],
)
def test_cotangent_that_varies_where_the_result_does_not(mesh: Mesh, function: Any, by_jit: bool) -> None:
    """The result follows from what all devices share; each pulls its own cotangent back."""

    def part(x: Any, ct: Any) -> Any:
        return vjp(function, x)[1](ct)[0]

    x, ct = np.array([0.3, 0.7]), rng.normal(size=8)
    mapped = shard_map(part, mesh=mesh, in_specs=(P(), P("x")), out_specs=P("x"))
    if by_jit:
        mapped = jit(mapped, backend="numpy")
    np.testing.assert_allclose(mapped(x, ct), np.concatenate([part(x, each) for each in ct.reshape(4, 2)]))
