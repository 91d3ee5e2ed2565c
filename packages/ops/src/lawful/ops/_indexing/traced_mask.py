"""Updates of the elements that a traced boolean array chooses, whose number is unknown."""

from __future__ import annotations

from typing import Any

from lawful.core import ArgumentValueError, Tracer, get_aval, record
from lawful.ops._elementwise.select import where
from lawful.ops._indexing.index import require_mask_shape
from lawful.ops._shape.reshape import reshape
from lawful.ops._support.structural import Shape


@record
class TracedMask:
    """An index with one traced boolean array, alone or among slices.

    Attributes:
      mask: the boolean array.
      shape: the shape of the indexed array.
      dims: the dimensions of it that the boolean array indexes.
      around: the index with full slices in place of the boolean array.
    """

    mask: Tracer
    shape: Shape
    dims: range
    around: tuple[Any, ...]

    @classmethod
    def of(cls, shape: Shape, index: Any) -> TracedMask | None:
        """Returns an index of an array of a shape as such, or None if it is of another form.

        Raises:
          ArgumentIndexError: the boolean array has another shape than those dimensions.
        """
        entries = index if isinstance(index, tuple) else (index,)
        masks = [i for i, entry in enumerate(entries) if _is_traced_mask(entry)]
        if len(masks) != 1:
            return None
        mask, before, after = entries[masks[0]], entries[: masks[0]], entries[masks[0] + 1 :]
        if not all(isinstance(entry, slice) or entry is Ellipsis for entry in (*before, *after)):
            return None
        first = len(shape) - len(after) - mask.ndim if Ellipsis in before else len(before)
        dims = range(first, first + mask.ndim)
        require_mask_shape(mask.shape, shape[max(first, 0) : dims.stop])
        return cls(mask, shape, dims, (*before, *[slice(None)] * mask.ndim, *after))

    def spread(self, values: Any) -> Any:
        """Returns values for the chosen elements as values for all elements of ``x[around]``.

        Raises:
          ArgumentValueError: they differ between the chosen elements, whose number is unknown.
        """
        have = get_aval(values).shape
        axis = len(have) - (len(self.shape) - self.dims.stop) - 1
        if axis < 0:
            return values
        if have[axis] != 1:
            raise ArgumentValueError(
                f"at: expected one value for all elements that the tracer {self.mask.aval} chooses, because their "
                f"number is not known, got values of the shape {have}; choose with lawful.numpy.where(mask, y, x)"
            )
        return reshape(values, (*have[:axis], *[1] * len(self.dims), *have[axis + 1 :]))

    def select(self, chosen: Any, others: Any) -> Any:
        """Returns values where the boolean array holds, and others elsewhere, with the dimensions of ``x[around]``.

        The selection is applied to the values of the update, not to its result: the derivative of an update that is
        not made could be NaN, even times zero.
        """
        sizes = tuple([size if dim in self.dims else 1 for dim, size in enumerate(self.shape)])
        return where(reshape(self.mask, sizes), chosen, others)


def _is_traced_mask(entry: Any) -> bool:
    return isinstance(entry, Tracer) and entry.dtype.kind == "b" and entry.concrete() is None
