"""Collectives around a function: drawn steps, each of which takes an array on every position to another one there.

The steps before a function exchange whole arrays, so that they stay in its domain. Those behind it mix its results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lawful import batching, tree
from lawful.control_flow import cond
from lawful.core import get_aval, is_inexact
from lawful.laws._sharding.meshes import Axes, draw_names
from lawful.ops import add, concatenate, convert_element_type, expand_dims, lt, mul, take

Step = Callable[[Any], Any]
Function = Callable[..., Any]
_Draw = Callable[[np.random.Generator, Any, int], Step]


def draw_pairs(random: np.random.Generator, count: int, *, every: bool = False) -> list[tuple[int, int]]:
    """Returns the pairs of a permutation: of some positions, or of every one."""
    sent = count if every else int(random.integers(1, count + 1))
    sources, destinations = random.permutation(count)[:sent], random.permutation(count)[:sent]
    return [(int(source), int(destination)) for source, destination in zip(sources, destinations, strict=True)]


def _multiples(x: Any, count: int) -> Any:
    """Returns different multiples of an array in a new first dimension, one for each position."""
    parts = [mul(x, get_aval(x).dtype.type(1 + i % 3)) for i in range(count)]
    return concatenate([expand_dims(part, (0,)) for part in parts], 0)


def _position(x: Any, names: Any) -> Any:
    """Returns one more than the position, as a number of the dtype of an array."""
    return convert_element_type(add(batching.axis_index(names), np.int32(1)), get_aval(x).dtype)


def _somewhere(x: Any, random: np.random.Generator, *, new: bool) -> int:
    return int(random.integers(get_aval(x).ndim + new))


def _seeded(step: Callable[[Any, np.random.Generator], Any]) -> Callable[[np.random.Generator], Step]:
    """Makes a step whose choices depend on its operand and are the same in each call."""

    def drawn(random: np.random.Generator) -> Step:
        seed = int(random.integers(2**31))
        return lambda x: step(x, np.random.default_rng(seed))

    return drawn


def _gathered(random: np.random.Generator, names: Any, count: int) -> Step:
    return _seeded(lambda x, r: batching.all_gather(x, names, axis=_somewhere(x, r, new=True)))(random)


def _gathered_whole(random: np.random.Generator, names: Any, count: int) -> Step:
    return lambda x: batching.all_gather(x, names, to="invarying")


def _gathered_tiled(random: np.random.Generator, names: Any, count: int) -> Step:
    def step(x: Any, r: np.random.Generator) -> Any:
        return batching.all_gather(x, names, axis=_somewhere(x, r, new=False), tiled=True) if get_aval(x).ndim else x

    return _seeded(step)(random)


def _scattered(random: np.random.Generator, names: Any, count: int) -> Step:
    tiled = bool(random.integers(2))
    return lambda x: batching.psum_scatter(_multiples(x, count), names, tiled=tiled)


def _exchanged(random: np.random.Generator, names: Any, count: int) -> Step:
    tiled = bool(random.integers(2))

    def step(x: Any, r: np.random.Generator) -> Any:
        return batching.all_to_all(_multiples(x, count), names, 0, _somewhere(x, r, new=True), tiled=tiled)

    return _seeded(step)(random)


def _sent(random: np.random.Generator, names: Any, count: int) -> Step:
    pairs = draw_pairs(random, count)
    return lambda x: batching.ppermute(x, names, pairs)


def _sent_all(random: np.random.Generator, names: Any, count: int) -> Step:
    pairs = draw_pairs(random, count, every=True)
    return lambda x: batching.ppermute(x, names, pairs)


def _told(random: np.random.Generator, names: Any, count: int) -> Step:
    source = int(random.integers(count))
    return lambda x: batching.pbroadcast(x, names, source)


def _of_a_neighbour(random: np.random.Generator, names: Any, count: int) -> Step:
    shift = int(random.integers(count))

    def step(x: Any) -> Any:
        gathered = batching.all_gather(x, names)
        at = (batching.axis_index(names) + np.int32(shift)) % np.int32(count)
        return take(gathered, at, axis=0)

    return step


def _summed(random: np.random.Generator, names: Any, count: int) -> Step:
    return lambda x: batching.psum(x, names)


def _summed_in_groups(random: np.random.Generator, names: Any, count: int) -> Step:
    groups = draw_groups(random, count)
    return lambda x: batching.psum(x, names, axis_index_groups=groups)


def draw_groups(random: np.random.Generator, count: int) -> list[list[int]]:
    """Returns groups of positions, of one length."""
    lengths = [length for length in range(1, count + 1) if count % length == 0]
    length = lengths[random.integers(len(lengths))]
    return [[int(position) for position in group] for group in random.permutation(count).reshape(-1, length)]


def _averaged(random: np.random.Generator, names: Any, count: int) -> Step:
    return lambda x: batching.pmean(x, names)


def _weighted(equal: _Draw) -> _Draw:
    """Returns the draw of a step whose result is equal along axes, times the position."""

    def draw(random: np.random.Generator, names: Any, count: int) -> Step:
        step = equal(random, names, count)
        return lambda x: mul(step(x), _position(x, names))

    return draw


def _normalized(random: np.random.Generator, names: Any, count: int) -> Step:
    return lambda x: mul(x, batching.psum(mul(x, _position(x, names)), names))


#: Steps that keep values in the domain of a function.
_BEFORE: Final[dict[str, _Draw]] = {
    "ppermute": _sent_all,
    "all_gather, of a neighbour": _of_a_neighbour,
    "pbroadcast": _told,
}
#: Steps of any numbers.
_BEHIND: Final[dict[str, _Draw]] = {
    "psum": _summed,
    "pmean": _averaged,
    "psum times position": _weighted(_summed),
    "pmean times position": _weighted(_averaged),
    "all_gather to invarying, times position": _weighted(_gathered_whole),
    "times psum": _normalized,
    "psum in groups": _summed_in_groups,
    "all_gather": _gathered,
    "all_gather to invarying": _gathered_whole,
    "all_gather, tiled": _gathered_tiled,
    "psum_scatter": _scattered,
    "all_to_all": _exchanged,
    "ppermute": _sent,
    "pbroadcast": _told,
    "all_gather, of a neighbour": _of_a_neighbour,
}
_LARGEST: Final = 512


def _drawn(random: np.random.Generator, axes: Axes, table: dict[str, _Draw]) -> tuple[str, Step]:
    names = draw_names(random, axes)
    given = names[0] if len(names) == 1 else names
    name = [*table][random.integers(len(table))]
    step = table[name](random, given, axes.size(names))
    return f"{name} over {', '.join(names)}", lambda x: step(x) if get_aval(x).size <= _LARGEST else x


def draw_before(random: np.random.Generator, axes: Axes) -> tuple[str, Step]:
    """Returns a step that gives each position the array of some position, and its text; half of them do nothing."""
    return ("", lambda x: x) if random.integers(2) else _drawn(random, axes, _BEFORE)


def draw_divergence(random: np.random.Generator, axes: Axes) -> tuple[str, Callable[[Function], Function]]:
    """Returns what puts a function into a branch that some positions take, and its text; half of them do nothing.

    The other positions take twice its results.
    """
    if random.integers(2):
        return "", lambda function: function
    names = draw_names(random, axes)
    limit = np.int32(random.integers(1, axes.size(names) + 1))

    def diverging(function: Function) -> Function:
        def twice(*args: Any) -> Any:
            return tree.map(lambda y: add(y, y) if is_inexact(get_aval(y).dtype) else y, function(*args))

        return lambda *args: cond(lt(batching.axis_index(names), limit), function, twice, *args)

    return f"in a branch of those below {limit} over {', '.join(names)}", diverging


def draw_behind(random: np.random.Generator, axes: Axes, most: int = 2) -> tuple[str, Step]:
    """Returns some steps of floating-point and complex numbers, and their text."""
    steps = [_drawn(random, axes, _BEHIND) for _ in range(random.integers(most + 1))]

    def every(x: Any) -> Any:
        if not is_inexact(get_aval(x).dtype):
            return x
        for _, step in steps:
            x = step(x)
        return x

    return " then ".join([text for text, _ in steps]), every
