"""Laws of single collectives: their definitions, and their transposes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.core import get_aval, kind
from lawful.laws._derivatives.directions import pairing
from lawful.laws._law.law import Claim, Claims, Inapplicable, Trial, law
from lawful.laws._sharding.definitions import Array, Collective, collectives
from lawful.laws._sharding.meshes import Axes, as_vmap, compiled, draw_axes, draw_names, public
from lawful.ops import expand_dims, reshape
from lawful.parallel import shard_map

_BOTH = (True, False)
# The number of collectives that are tried at least, as each takes little time.
_LEAST: Final = 4


@dataclass(frozen=True, slots=True)
class _Call:
    """A collective over some axes of a mesh, with operands.

    Attributes:
      axes: those of the mesh.
      names: those that the collective is over, the slowest first.
      collective: the collective.
      operand: the operands at all positions: its first dimensions are the axes of the mesh.
    """

    axes: Axes
    names: tuple[str, ...]
    collective: Collective
    operand: Array

    @property
    def text(self) -> str:
        return f"{self.collective.text} on a mesh of {self.axes}"

    def part(self, x: Any) -> Any:
        """Returns what a device computes: of a part and to a part whose first dimensions have length 1."""
        ones = len(self.axes.names)
        out = self.collective.call(reshape(x, get_aval(x).shape[ones:]))
        return expand_dims(out, tuple(range(ones)))

    def mapped(self, trial: Trial, *, checked: bool) -> Callable[[Any], Any]:
        """Returns the function of the operands at all positions to the results there, by ``shard_map``."""
        spec = public(tuple([(name,) for name in self.axes.names]))
        mapped: Callable[[Any], Any] = shard_map(
            self.part, mesh=self.axes.mesh(trial.system), in_specs=spec, out_specs=spec, check_vma=checked
        )
        return mapped

    def by_vmap(self, trial: Trial) -> Callable[[Any], Any]:
        """Returns the same function by nested ``vmap``."""
        spec = (*[(name,) for name in self.axes.names], (), ())
        ndim = np.ndim(self.defined(self.operand))
        out_spec = (*[(name,) for name in self.axes.names], *[()] * (ndim - len(self.axes.names)))
        whole = as_vmap(trial.system, lambda parts: [self.part(*parts)], self.axes, [spec], [out_spec])
        return lambda x: whole(x)[0]

    def defined(self, operand: Array) -> Array:
        """Returns the results at all positions by the definition, a loop over positions."""
        beside = [name for name in self.axes.names if name not in self.names]
        found: dict[tuple[int, ...], Array] = {}
        for other in self.axes.positions(beside):
            along = [{**other, **position} for position in self.axes.positions(self.names)]
            keys = [tuple([position[name] for name in self.axes.names]) for position in along]
            found.update(zip(keys, self.collective.define([operand[key] for key in keys]), strict=True))
        first = next(iter(found.values()))
        out = np.empty((*self.axes.sizes, *first.shape), first.dtype)
        for key, value in found.items():
            out[key] = value
        return out


def _draw(trial: Trial, *, linear: bool) -> list[_Call]:
    """Returns calls of collectives with small whole numbers, of a dtype of the case.

    Raises:
      Inapplicable: the case has no array of numbers.
    """
    dtypes = {get_aval(x).dtype for x in tree.leaves(trial.args)}
    wanted = sorted([dtype for dtype in dtypes if kind(dtype) in ("fc" if linear else "fciu")], key=str)
    if not wanted:
        raise Inapplicable("collectives: expected an argument of numbers, got none")
    random, axes = trial.random, draw_axes(trial.random)
    calls = []
    order = [[*collectives][i] for i in random.permutation(len(collectives))]
    for name in order[: max(_LEAST, trial.effort.most)]:
        dtype = wanted[random.integers(len(wanted))]
        real = kind(dtype) == "f" or (kind(dtype) in "iu" and name != "pmean")
        if name in ("pmax", "pmin", "axis_index", "pmean") and not real:
            continue
        names = draw_names(random, axes)
        given = names[0] if len(names) == 1 else names
        call = _Call(axes, names, collectives[name](random, given, axes.size(names)), _operand(random, axes, dtype))
        if call.collective.is_linear or not linear:
            calls.append(call)
    return calls


def _operand(random: np.random.Generator, axes: Axes, dtype: Any) -> Array:
    shape = (*axes.sizes, *map(int, random.integers(1, 3, 2)))
    return np.asarray(random.integers(0 if kind(dtype) == "u" else -2, 3, shape), dtype)


@law("sharding", needs=("devices", "vmap", "jit"), share=1 / 4)
def law_collectives_are_definitions(trial: Trial) -> Claims:
    """Each collective gives at every position what its definition says, a loop over positions.

    Equation: shard_map(c)(x)[p] = jit(shard_map(c))(x)[p] = vmap(c)(x)[p] = c(x[q] for all positions q)[p], for c each
    collective over one axis or several, in every order, in groups or not, tiled or not, with types checked or not

    Numbers are small whole ones of a dtype of the case, so that sums are exact.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: the case has no array of numbers.

    >>> from lawful import ops
    >>> from lawful.laws import Case, quick
    >>> from lawful.laws.systems import lawful
    >>> law_collectives_are_definitions(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5), effort=quick)
    """
    for call in _draw(trial, linear=False):
        expected = call.defined(call.operand)
        for checked in trial.some(_BOTH):
            mapped = call.mapped(trial, checked=checked)
            ways = {
                f"shard_map, check_vma={checked}": mapped,
                f"jit of shard_map, check_vma={checked}": compiled(trial.system, mapped),
                "vmap": call.by_vmap(trial),
            }
            for way in trial.some([*ways]):
                yield Claim(f"{call.text} by {way}", ways[way](call.operand), "a loop over positions", expected)


@law("transposition", needs=("devices", "linear_transpose", "vjp"), share=1 / 4)
def law_collectives_transpose(trial: Trial) -> Claims:
    """The transpose of each linear collective is its adjoint over all devices together.

    Equation: ⟨w, A v⟩ = ⟨Aᵀ w, v⟩ and (Aᵀ)ᵀ = A, for A each linear collective over one axis or several, of operands at
    all positions of a mesh or of one that is the same at all, with types checked or not

    A v is the definition of the collective.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: the case has no array of floating-point or complex numbers.

    >>> from lawful import ops
    >>> from lawful.laws import Case, quick
    >>> from lawful.laws.systems import lawful
    >>> law_collectives_transpose(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5), effort=quick)
    """
    for call in _draw(trial, linear=True):
        w = _like(trial.random, call.defined(call.operand))
        for checked in trial.some(_BOTH):
            for way in trial.some([_of_parts, _of_a_whole]):
                yield from way(trial, call, w, checked)


def _like(random: np.random.Generator, x: Array) -> Array:
    return np.asarray(random.integers(-2, 3, x.shape), x.dtype)


def _of_parts(trial: Trial, call: _Call, w: Array, checked: bool) -> Claims:
    system, v = trial.system, call.operand
    mapped = call.mapped(trial, checked=checked)
    transposed = system.linear_transpose(mapped, v)
    (pulled,) = transposed(w)
    yield Claim(
        f"⟨w, A v⟩ of {call.text}", pairing(system, w, call.defined(v)),
        f"⟨Aᵀ w, v⟩ with check_vma={checked}", pairing(system, pulled, v),
    )  # fmt: skip
    (twice,) = system.linear_transpose(lambda ct: transposed(ct)[0], w)(v)
    yield Claim(f"(Aᵀ)ᵀ v of {call.text}", twice, "A v", call.defined(v))


def _of_a_whole(trial: Trial, call: _Call, w: Array, checked: bool) -> Claims:
    """The same of an operand that all devices have, whose cotangent is the sum of those of its copies."""
    system, ones = trial.system, len(call.axes.names)
    v = call.operand[(0,) * ones]
    copies = np.broadcast_to(v, call.operand.shape)
    mapped = shard_map(
        lambda x: call.part(expand_dims(x, tuple(range(ones)))), mesh=call.axes.mesh(system), in_specs=public(()),
        out_specs=public(tuple([(name,) for name in call.axes.names])), check_vma=checked,
    )  # fmt: skip
    (pulled,) = system.vjp(mapped, v)[1](w)
    yield Claim(
        f"⟨w, A v⟩ of {call.text}, where v is the same everywhere", pairing(system, w, call.defined(copies)),
        f"⟨Aᵀ w, v⟩ with check_vma={checked}", pairing(system, pulled, v),
    )  # fmt: skip
