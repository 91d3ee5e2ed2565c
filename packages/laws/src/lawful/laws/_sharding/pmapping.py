"""``pmap`` is ``vmap``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lawful import tree
from lawful.batching import vmap
from lawful.core import get_aval
from lawful.laws._composition.batching import batch_of, mappable
from lawful.laws._derivatives.directions import tangents_of
from lawful.laws._law.law import Claim, Claims, Trial, law
from lawful.laws._sharding.meshes import Axes, compiled
from lawful.laws._sharding.steps import draw_behind
from lawful.parallel import pmap

_SIZES = (1, 2, 2, 3, 4, 8)


@law("sharding", needs=("devices", "vmap", "jvp", "vjp"), share=1 / 4)
def law_pmap_is_vmap(trial: Trial) -> Claims:
    """A function mapped over devices is the function mapped over a dimension.

    Equation: T(pmap(f, axis_name, in_axes, out_axes)) = T(vmap(f, axis_name, in_axes, out_axes)), for T among nothing,
    jit, jvp and vjp, where f has collectives behind it

    Raises:
      LawViolation: it does not hold.
      Inapplicable: there is no argument to map.

    >>> import numpy as np
    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_pmap_is_vmap(lawful, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])))
    """
    random, system, args = trial.random, trial.system, trial.args
    size = _SIZES[random.integers(len(_SIZES))]
    axes = Axes(("i",), (size,))
    text, step = draw_behind(random, axes)
    function = trial.function

    def element(*xs: Any) -> Any:
        return tree.map(step, function(*xs))

    argnums = mappable(args)
    mapped = {i for i in argnums if random.integers(3)} or {argnums[0]}
    in_axes = tuple([_axis(random, x) if i in mapped else None for i, x in enumerate(args)])
    batch = [
        x if axis is None else tree.map(lambda leaf, axis=axis: batch_of(leaf, size, axis % (np.ndim(leaf) + 1)), x)
        for x, axis in zip(args, in_axes, strict=True)
    ]
    ways = {"": _value, "jit of ": _compiled, "jvp of ": _forward, "vjp of ": _reverse}
    over = vmap(element, in_axes, axis_name="i", axis_size=size)
    out_axes = 0 if random.integers(2) else -1
    over = vmap(element, in_axes, out_axes, axis_name="i", axis_size=size)
    on_devices = pmap(element, "i", in_axes=in_axes, out_axes=out_axes, devices=system.devices(size))
    label = f"pmap(f, 'i', in_axes={in_axes}, out_axes={out_axes}) on {size} devices{', ' if text else ''}{text}"
    for way in trial.some([*ways]):
        found, expected = ways[way](trial, [on_devices, over], batch)
        yield Claim(f"{way}{label}", found, f"{way}vmap", expected, mixed=True)


def _axis(random: np.random.Generator, value: Any) -> int:
    least = min([get_aval(x).ndim for x in tree.leaves(value)])
    return int(random.integers(least + 1))


_Functions = list[Callable[..., Any]]


def _value(trial: Trial, functions: _Functions, args: list[Any]) -> list[Any]:
    return [function(*args) for function in functions]


def _compiled(trial: Trial, functions: _Functions, args: list[Any]) -> list[Any]:
    return [compiled(trial.system, function)(*args) for function in functions]


def _forward(trial: Trial, functions: _Functions, args: list[Any]) -> list[Any]:
    v = tangents_of(trial, tuple(args))
    return [trial.system.jvp(function, tuple(args), v) for function in functions]


def _reverse(trial: Trial, functions: _Functions, args: list[Any]) -> list[Any]:
    outs = functions[1](*args)
    w = tangents_of(trial, outs)
    return [tuple(trial.system.vjp(function, *args)[1](w)) for function in functions]
