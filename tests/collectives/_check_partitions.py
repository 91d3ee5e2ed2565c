"""Compares collectives in partitions of 8 devices with `vmap`; run by `test_partitions` in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np

from lawful import batching
from lawful.autodiff import vjp
from lawful.batching import vmap

from ._partitions import Axes, run_in_partitions
from ._programs import COLLECTIVES, axis_names, of_axis

MESHES: list[Axes] = [[("x", 4)], [("x", 2), ("y", 3)], [("x", 2), ("y", 2), ("z", 2)]]
#: By the name and the size of the axis.
GROUPS = {
    ("x", 4): [[2, 0], [1, 3]],
    (("x", "y"), 6): [[5, 0], [1, 3], [2, 4]],
    (("y", "x"), 6): [[4, 0, 1], [5, 3, 2]],
    (("z", "x"), 4): [[0, 3], [2, 1]],
}
DTYPES = [bool, np.int8, np.uint8, np.uint32, np.int64, np.float16, ml_dtypes.bfloat16, np.float32]
DTYPES += [np.complex64, np.complex128]


def over_axes(function: Callable[..., Any], axes: Axes) -> Callable[..., Any]:
    for name, _ in reversed(axes):
        function = vmap(function, axis_name=name)
    return function


def operand(axes: Axes, dtype: Any) -> Any:
    shape = (*(size for _, size in axes), 24, 24)
    return np.random.default_rng(0).integers(-9, 9, shape).astype(dtype)


def cases() -> Iterator[tuple[str, Callable[..., Any], Axes, Any]]:
    for axes in MESHES:
        x = operand(axes, float)
        for names in axis_names(axes):
            sizes = dict(axes)
            size = int(np.prod([sizes[name] for name in (names if type(names) is tuple else (names,))]))
            programs = {**COLLECTIVES, **of_axis(size)}
            for name, function in programs.items():
                yield f"{name} {names} {axes}", lambda v, f=function, n=names: f(v, n), axes, x
            groups = GROUPS.get((names, size))
            for name, function in COLLECTIVES.items() if groups else ():
                of_groups = lambda v, f=function, n=names, g=groups: f(v, n, axis_index_groups=g)  # noqa: E731
                yield f"{name} {names} {groups} {axes}", of_groups, axes, x
    axes = MESHES[1]
    uneven = [[0, 5, 2], [1], [4, 3]]
    for function in (batching.psum, batching.pmax):
        of_groups = lambda v, f=function: f(v, ("y", "x"), axis_index_groups=uneven)  # noqa: E731
        yield f"{function.__name__} uneven", of_groups, axes, operand(axes, float)
    for dtype in DTYPES:
        for name, function in COLLECTIVES.items():
            if name != "pmean":
                of_dtype = lambda v, f=function: f(v, ("y", "x"))  # noqa: E731
                yield f"{name} {np.dtype(dtype)}", of_dtype, axes, operand(axes, dtype)
    # Partitions within a vmap over another axis, and derivatives inside of it.
    for name, function in COLLECTIVES.items():
        beside = lambda v, f=function: vmap(lambda u: f(u, "y"), in_axes=1, out_axes=1)(v.reshape(24, 2, 12))  # noqa: E731
        yield f"{name} vmap", beside, axes, operand(axes, float)
        if name not in ("pmax", "pmin"):
            cotangent = lambda v, f=function: vjp(lambda u: f(u, ("y", "x")), v)[1](f(v * v, ("y", "x")))[0]  # noqa: E731
            yield f"{name} vjp", cotangent, axes, operand(axes, float)
    special = operand(axes, float)
    special[0, 1, 0, :4] = np.nan, -0.0, np.inf, -np.inf
    special[1, 1, 0, 1] = 0.0
    for name in ("psum", "pmax", "pmin", "pbroadcast"):
        function = {**COLLECTIVES, "pbroadcast": lambda v, n: batching.pbroadcast(v, n, 1)}[name]
        yield f"{name} special", lambda v, f=function: f(v, "y"), axes, special


def main() -> None:
    count = 0
    for name, function, axes, x in cases():
        expected = np.asarray(over_axes(function, axes)(x))
        try:
            found, _ = run_in_partitions(function, axes, x)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}")
            continue
        count += 1
        if found.dtype != expected.dtype or not np.allclose(found, expected, rtol=1e-12, equal_nan=True):
            print(f"{name}: expected {expected.dtype}{expected.shape}, got {found.dtype}{found.shape}")
            if found.shape == expected.shape:
                differ = ~np.isclose(found, expected, equal_nan=True)
                print(f"  of {differ.sum()} elements: {expected[differ][:8]}, got {found[differ][:8]}")
    print(f"{count} programs")


if __name__ == "__main__":
    main()
