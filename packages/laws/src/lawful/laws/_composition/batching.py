"""Laws of batching."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from lawful import tree
from lawful.core import float0, get_aval
from lawful.laws._law.law import Claim, Claims, Inapplicable, Trial, law


def batch_of(x: Any, size: int, axis: int, phase: int = 0) -> np.ndarray[Any, Any]:
    """Returns a batch whose first element is ``x`` and whose others are near it, so that domains are kept."""
    value = np.asarray(x)
    elements = [value]
    for number in range(1, size):
        step = number + phase
        if value.dtype.kind == "b":
            element = ~value
        elif value.dtype == float0:
            element = value
        elif value.dtype.kind in "iu":
            element = (np.abs(value) + step % 2).astype(value.dtype)
        else:
            element = (
                value.astype(np.complex128 if value.dtype.kind == "c" else np.float64) * (1 - 0.03 * step)
            ).astype(value.dtype)
        elements.append(element)
    return (
        np.stack(elements, axis=axis) if size else np.empty((*value.shape[:axis], 0, *value.shape[axis:]), value.dtype)
    )


def mappable(args: Sequence[Any]) -> list[int]:
    """Returns the positions of arguments that can be mapped over: a batch of Python numbers would be another type.

    Raises:
      Inapplicable: there are none.
    """
    argnums = [
        i for i, x in enumerate(args) if tree.leaves(x) and not any(get_aval(leaf).weak_type for leaf in tree.leaves(x))
    ]
    if not argnums:
        raise Inapplicable("vmap: expected an array to map over, got none")
    return argnums


def _subsets(trial: Trial, argnums: list[int]) -> Iterator[set[int]]:
    """Yields which arguments to map: every choice with at least one, or some if there are many; all of them first."""
    choices = [set(chosen) for size in range(len(argnums), 0, -1) for chosen in combinations(argnums, size)]
    if trial.effort.most > 1:
        yield choices.pop(0)
    yield from trial.some(choices)


def _axis(random: np.random.Generator, value: Any) -> int:
    """Returns where the mapped axis of an argument stands, the same in all of its leaves."""
    ranks = {get_aval(x).ndim for x in tree.leaves(value)}
    if not ranks:  # nothing is returned
        return 0
    return int(random.integers(-1 - min(ranks) if len(ranks) == 1 else 0, min(ranks) + 1))


def _batch(value: Any, size: int, axis: int) -> Any:
    return tree.map(lambda x: batch_of(x, size, axis % (np.ndim(x) + 1)), value)


def _element(value: Any, axis: int, index: int) -> Any:
    return tree.map(lambda x: np.take(x, index, axis=axis), value)


@law("batching", needs=("vmap",))
def law_vmap_is_loop(trial: Trial, *, axis_size: int = 3) -> Claims:
    """A mapped function is the stacked loop, for every choice of mapped arguments and several axes.

    Equation: vmap(f, in_axes, out_axes)(x)[i] = f(x[i])

    Raises:
      LawViolation: it does not hold.
      Inapplicable: there is no argument to map.

    >>> import numpy as np
    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_vmap_is_loop(lawful, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])))
    """
    function, args, random = trial.function, trial.args, trial.random
    for number, mapped in enumerate(_subsets(trial, mappable(args))):
        front = number == 0 and trial.effort.most > 1
        in_axes = tuple(None if i not in mapped else 0 if front else _axis(random, x) for i, x in enumerate(args))
        batched = [x if axis is None else _batch(x, axis_size, axis) for x, axis in zip(args, in_axes, strict=True)]
        outs = [tree.map(trial.system.numpy, function(*_elements_at(batched, in_axes, i))) for i in range(axis_size)]
        out_axis = 0 if front else _axis(random, outs[0])
        expected = tree.map(lambda *elements, to=out_axis: np.stack(elements, axis=to), *outs)
        found = trial.system.vmap(function, in_axes, out_axis)(*batched)
        yield Claim(f"vmap(f, in_axes={in_axes}, out_axes={out_axis})", found, "the stacked loop", expected)


def _elements_at(batched: Sequence[Any], in_axes: Sequence[int | None], index: int) -> list[Any]:
    return [x if axis is None else _element(x, axis, index) for x, axis in zip(batched, in_axes, strict=True)]


@law("batching", needs=("vmap",))
def law_vmaps_commute(trial: Trial) -> Claims:
    """Mapping over one axis and then another is mapping over them in the other order, with the axes swapped.

    Equation: vmap(vmap(f))(x)[i, j] = vmap(vmap(f))(xᵀ)[j, i]

    Arguments that only one of both maps over are among them.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: there is no argument to map.

    >>> import numpy as np
    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_vmaps_commute(lawful, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])))
    """
    function, args, random, vmap = trial.function, trial.args, trial.random, trial.system.vmap
    argnums = mappable(args)
    outer, inner = ([i in argnums and bool(random.integers(0, 4)) for i in range(len(args))] for _ in range(2))
    outer[argnums[0]] = inner[argnums[-1]] = True
    batched = list(args)
    for i, (is_inner, is_outer) in enumerate(zip(inner, outer, strict=True)):
        if is_inner:
            batched[i] = tree.map(lambda x: batch_of(x, 3, 0), batched[i])
        if is_outer:
            batched[i] = tree.map(lambda x: batch_of(x, 2, 0, phase=3), batched[i])
    swapped = [
        tree.map(lambda x: np.swapaxes(x, 0, 1), x) if is_inner and is_outer else x
        for x, is_inner, is_outer in zip(batched, inner, outer, strict=True)
    ]
    inner_axes = tuple(0 if chosen else None for chosen in inner)
    outer_axes = tuple(0 if chosen else None for chosen in outer)

    def in_numpy(values: Any) -> Any:
        return tree.map(trial.system.numpy, values)

    one = in_numpy(vmap(vmap(function, inner_axes), outer_axes)(*batched))
    other = in_numpy(vmap(vmap(function, outer_axes), inner_axes)(*swapped))
    yield Claim(
        "vmap(vmap(f, inner), outer)", one,
        "vmap(vmap(f, outer), inner) with the axes swapped", tree.map(lambda x: np.swapaxes(x, 0, 1), other),
    )  # fmt: skip
    if trial.effort.most > 1:
        middle = vmap(vmap(function, inner_axes, out_axes=-1), outer_axes)(*batched)
        yield Claim(
            "vmap(vmap(f, inner, out_axes=-1), outer)", middle,
            "the same with the axis moved", tree.map(lambda x: np.moveaxis(x, 1, -1), one),
        )  # fmt: skip
