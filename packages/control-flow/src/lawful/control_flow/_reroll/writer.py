"""Writer of the rerolled program: equations, stacks of values, and deferred values that are written when used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from lawful.control_flow._reroll.rows import Row
from lawful.control_flow._reroll.sums import RowSum
from lawful.core import Atom, JaxprEqn, Literal, Primitive, ShapedArray, SourceLine, Var
from lawful.ops import (
    add_p,
    broadcast_in_dim_p,
    concatenate_p,
    convert_element_type_p,
    pad_p,
    reshape_p,
    rev_p,
    slice_p,
    split_p,
    transpose_p,
)

# If this many rows of an array are used individually, one equation splits all of them.
_MANY: Final = 4
# The maximal number of stacks that are interleaved in one list of values.
_MAX_INTERLEAVED: Final = 8


class Writer:
    """Writes equations.

    Attributes:
      eqns: the equations written so far.
      constvars: new constants, with their values in ``consts``.
      rows: the variables that are rows of arrays, written or not.
      waiting: the deferred values that are not written yet.
      values: maps variables of the original program to atoms of the new one, where they differ.
      wanted: for each array, the number of its rows that are known to be used individually.
      source: the source line of the equations to write.
    """

    def __init__(self, rows: Mapping[Atom, Row]) -> None:
        self.eqns: list[JaxprEqn] = []
        self.constvars: list[Var] = []
        self.consts: list[Any] = []
        self.rows: dict[Atom, Row] = dict(rows)
        self.waiting: dict[Atom, JaxprEqn | Row | RowSum] = {}
        self.values: dict[Atom, Atom] = {}
        self.wanted: Counter[Var] = Counter()
        self.source: SourceLine | None = None
        self._parts: dict[Var, Sequence[Var]] = {}

    def equation(self, primitive: Primitive, *invars: Atom, **params: Any) -> Any:
        """Writes an equation, and returns its result variable, or the list of them."""
        found = primitive.rule("abstract_eval")(*[atom.aval for atom in invars], **params)
        outvars = [Var(aval) for aval in (found if primitive.multiple_results else [found])]
        self.eqns.append(JaxprEqn(primitive, invars, outvars, params, self.source))
        return outvars if primitive.multiple_results else outvars[0]

    # Deferred values

    def ready(self, atoms: Sequence[Atom]) -> None:
        """Writes deferred operands, and the deferred values that they need."""
        rest = [atom for atom in atoms if atom in self.waiting]
        while rest:
            var = rest[-1]
            value = self.waiting.get(var)
            if value is None:
                rest.pop()
                continue
            missing = [x for x in self._needed(value) if x in self.waiting]
            if missing:
                rest += missing
                continue
            if isinstance(value, JaxprEqn):
                self.eqns.append(self.renamed(value))
                for each in value.outvars:
                    self.waiting.pop(each, None)
            else:
                self.values[var] = self._row(value) if isinstance(value, Row) else self._sum(value)
                del self.waiting[var]

    def use(self, atom: Atom) -> Atom:
        """Returns an operand of the original program as one of the new program; writes it if it is deferred."""
        self.ready([atom])
        return self.values.get(atom, atom)

    def renamed(self, eqn: JaxprEqn) -> JaxprEqn:
        """Returns an equation with operands of the new program."""
        if not any([atom in self.values for atom in eqn.invars]):
            return eqn
        return eqn.replace(invars=[self.values.get(atom, atom) for atom in eqn.invars])

    def _needed(self, value: JaxprEqn | Row | RowSum) -> Sequence[Atom]:
        if isinstance(value, Row):
            return [value.array]
        return self.stack_needs(value.operands) if isinstance(value, RowSum) else value.invars

    def stack_needs(self, atoms: Sequence[Atom]) -> list[Atom]:
        """Returns the atoms that must be written before values are stacked: for rows, the arrays."""
        return [self.rows[x].array if x in self.rows else x for x in atoms]

    def _row(self, row: Row) -> Atom:
        if self.wanted[row.array] < _MANY:
            return self.as_weak(self.reshape(self._cut(row, row), row.aval.shape), row.aval)
        parts = self._parts.get(row.array)
        if parts is None:
            parts = self._parts[row.array] = self._split(row)
        return self.as_weak(self.reshape(parts[row.start], row.aval.shape), row.aval)

    def _split(self, row: Row) -> Sequence[Var]:
        """Returns all rows of an array along its first axis as the results of one equation."""
        array, shape = row.array, row.aval.shape
        count = array.aval.shape[0]
        if shape:
            array = self.reshape(array, (count * shape[0], *shape[1:]))
        found: Sequence[Var] = self.equation(split_p, array, sizes=(shape[0] if shape else 1,) * count, axis=0)
        return found

    def _sum(self, value: RowSum) -> Atom:
        shape = value.total.aval.shape
        total = None if value.before is None else self.values.get(value.before, value.before)
        for group in value.groups:
            rows = self._side_by_side(self.stack(group.rows), group.axis)
            config = tuple(
                [
                    (low, size - high, group.gap if axis == group.axis else 0)
                    for axis, ((low, high), size) in enumerate(zip(group.window, shape, strict=True))
                ]
            )
            if any(map(any, config)):
                rows = self.equation(pad_p, rows, value.zero, padding_config=config)
            total = rows if total is None else self.equation(add_p, total, rows)
        assert total is not None
        return self.as_weak(total, value.total.aval)

    def _side_by_side(self, stacked: Var, axis: int) -> Var:
        """Returns stacked parts of an array concatenated along an axis."""
        count, *shape = stacked.aval.shape
        if axis:
            order = (*range(1, axis + 1), 0, *range(axis + 1, len(shape) + 1))
            stacked = self.equation(transpose_p, stacked, permutation=order)
        return self.reshape(stacked, (*shape[:axis], count * shape[axis], *shape[axis + 1 :]))

    # Stacks

    def stack(self, atoms: Sequence[Atom]) -> Var:
        """Returns values of one type, which must be written, as a strong array stacked along its first dimension.

        Equally spaced rows are sliced from their array.
        """
        found_pieces = [*pieces(atoms, self.rows)]
        if len(found_pieces) > _MANY:
            for count in range(2, _MAX_INTERLEAVED + 1):
                strands = [atoms[i::count] for i in range(count)]
                if len(atoms) % count == 0 and all([self._is_piece(strand) for strand in strands]):
                    return self._interleaved(strands)
        parts = [self._stacked(atoms[start:end], step) for start, end, step in found_pieces]
        found: Var = parts[0] if len(parts) == 1 else self.equation(concatenate_p, *parts, dimension=0)
        return found

    def _is_piece(self, atoms: Sequence[Atom]) -> bool:
        """Whether all values are equally spaced rows, or literals."""
        start, end, step = next(pieces(atoms, self.rows))
        return end - start == len(atoms) and (bool(step) or type(atoms[0]) is Literal)

    def _interleaved(self, strands: Sequence[Sequence[Atom]]) -> Var:
        """Returns the stack of the values of several lists, interleaved."""
        count, shape = len(strands[0]), strands[0][0].aval.shape
        parts = [self.reshape(self.stack(strand), (count, 1, *shape)) for strand in strands]
        return self.reshape(self.equation(concatenate_p, *parts, dimension=1), (count * len(strands), *shape))

    def join(self, eqn: JaxprEqn) -> None:
        """Writes a concatenation, with adjacent rows of an array joined to one operand."""
        axis, operands = eqn.params["dimension"], eqn.invars
        groups = [(operands[start:end], step) for start, end, step in pieces(operands, self.rows)]
        if all([len(group) == 1 or not step for group, step in groups]):
            self.ready(operands)
            self.eqns.append(self.renamed(eqn))
            return
        joined: list[Atom] = []
        for group, step in groups:
            if step and len(group) > 1:
                self.ready(self.stack_needs(group))
                joined.append(self._side_by_side(self._stacked(group, step), axis))
            else:
                joined += map(self.use, group)
        if len(joined) == 1:
            self.values[eqn.outvars[0]] = joined[0]
        else:
            self.eqns.append(eqn.replace(invars=joined))

    def _stacked(self, atoms: Sequence[Atom], step: int) -> Var:
        shape = atoms[0].aval.shape
        if step:
            first, last = self.rows[atoms[0]], self.rows[atoms[-1]]
            return self._rows(first, last, step)
        if type(atoms[0]) is Literal:
            return self.constant(np.array([atom.val for atom in atoms], atoms[0].aval.dtype))  # type: ignore[union-attr]
        values = [self.values.get(atom, atom) for atom in atoms]
        if len(values) == 1:
            return self.reshape(values[0], (1, *shape))
        if len(set(values)) == 1:
            dims, shape = tuple(range(1, len(shape) + 1)), (len(values), *shape)
            return self.equation(broadcast_in_dim_p, values[0], shape=shape, broadcast_dimensions=dims)  # type: ignore[no-any-return]
        if not shape:
            lines = {value: self.reshape(value, (1,)) for value in dict.fromkeys(values)}
            values = [lines[value] for value in values]
        joined = self.equation(concatenate_p, *values, dimension=0)
        return self.reshape(joined, (len(atoms), *shape))

    def _rows(self, first: Row, last: Row, step: int) -> Var:
        """Returns the rows from the first to the last, stacked."""
        axis, size, _ = first.line
        array = self._cut(first, last, abs(step))
        shape = array.aval.shape
        count = shape[axis] // size
        if axis and count > 1:
            array = self.reshape(array, (*shape[:axis], count, size, *shape[axis + 1 :]))
            order = (axis, *range(axis), *range(axis + 1, len(shape) + 1))
            array = self.equation(transpose_p, array, permutation=order)
        array = self.reshape(array, (count, *first.aval.shape))
        if step < 0:
            array = self.equation(rev_p, array, dimensions=(0,))
        return array

    def _cut(self, first: Row, last: Row, step: int = 1) -> Var:
        """Returns the part of an array from one row to another, with a stride of ``step`` along the rows' axis."""
        array = self.values.get(first.array, first.array)
        starts, limits = zip(*first.window(last), strict=True)
        if step == 1 and not any(starts) and limits == array.aval.shape:
            assert type(array) is Var
            return array
        strides = None if step == 1 else tuple([step if axis == first.line.axis else 1 for axis in range(len(starts))])
        found: Var = self.equation(slice_p, array, start_indices=starts, limit_indices=limits, strides=strides)
        return found

    def constant(self, value: Any) -> Var:
        """Returns a variable for a constant array."""
        var = Var(ShapedArray(value.shape, value.dtype))
        self.constvars.append(var)
        self.consts.append(value)
        return var

    # Shapes and weakness

    def reshape(self, atom: Atom, shape: tuple[int, ...]) -> Var:
        """Returns an array in another shape."""
        if type(atom) is Var and atom.aval.shape == shape and not atom.aval.weak_type:
            return atom
        found: Var = self.equation(reshape_p, atom, new_sizes=shape)
        return found

    def as_weak(self, atom: Atom, aval: ShapedArray) -> Atom:
        """Returns a value with the weakness of a type."""
        if atom.aval.weak_type == aval.weak_type:
            return atom
        if type(atom) is Literal and not aval.weak_type:
            return Literal(np.asarray(atom.val).astype(aval.dtype)[()])
        found: Var = self.equation(convert_element_type_p, atom, new_dtype=aval.dtype, weak_type=aval.weak_type)
        return found

    def as_strong(self, atom: Atom) -> Atom:
        """Returns a value as a strong one."""
        return self.as_weak(atom, atom.aval.update(weak_type=False))


def pieces(atoms: Sequence[Atom], rows: dict[Atom, Row]) -> Iterator[tuple[int, int, int]]:
    """Yields start and end of the pieces of a list: equally spaced rows, literals, or other values.

    The third number is the step of rows, such as 1 for ascending, -1 for descending, 2 for every second row; it is 0
    for literals and other values.
    """
    found = [rows.get(x) for x in atoms]
    start = 0
    while start < len(atoms):
        end, step, row = start + 1, 0, found[start]
        if row is None:
            literal = type(atoms[start]) is Literal
            while end < len(atoms) and found[end] is None and (type(atoms[end]) is Literal) == literal:
                end += 1
        else:
            step = (row.steps_to(found[end]) if end < len(atoms) else 0) or 1
            while end < len(atoms) and row.steps_to(found[end]) == step:
                row = found[end] or row
                end += 1
        yield start, end, step
        start = end
