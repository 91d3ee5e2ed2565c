"""An update of the elements that a boolean array chooses, when its values, and so their number, are not known."""

from __future__ import annotations

from typing import Any

from lawful.core import ArgumentValueError, Tracer, get_aval, record
from lawful.ops._elementwise.select import where
from lawful.ops._indexing.index import require_mask_shape
from lawful.ops._shape.reshape import reshape
from lawful.ops._support.structural import Shape


@record
class TracedMask:
    """An index with one boolean array whose values are not known, alone or among slices.

    Attributes:
      mask: the boolean array.
      shape: the shape of the indexed array.
      dims: the dimensions of it that the boolean array chooses from.
      around: the index with slices of all in place of the boolean array.
    """

    mask: Tracer
    shape: Shape
    dims: range
    around: tuple[Any, ...]

    @classmethod
    def of(cls, shape: Shape, index: Any) -> TracedMask | None:
        """Returns what an index of an array of a shape is, or None if it is another.

        Raises:
          ArgumentIndexError: the boolean array is of another shape than those dimensions.
        """
        entries = index if isinstance(index, tuple) else (index,)
        places = [i for i, entry in enumerate(entries) if _is_traced_mask(entry)]
        if len(places) != 1:
            return None
        mask, before, after = entries[places[0]], entries[: places[0]], entries[places[0] + 1 :]
        if not all(isinstance(entry, slice) or entry is Ellipsis for entry in (*before, *after)):
            return None
        first = len(shape) - len(after) - mask.ndim if Ellipsis in before else len(before)
        dims = range(first, first + mask.ndim)
        require_mask_shape(mask.shape, shape[max(first, 0) : dims.stop])
        return cls(mask, shape, dims, (*before, *[slice(None)] * mask.ndim, *after))

    def spread(self, values: Any) -> Any:
        """Returns values for the elements that are chosen as values for all that are chosen from.

        Raises:
          ArgumentValueError: they have a dimension for the chosen elements, whose number is not known.
        """
        have = get_aval(values).shape
        place = len(have) - (len(self.shape) - self.dims.stop) - 1
        if place < 0:
            return values
        if have[place] != 1:
            raise ArgumentValueError(
                f"at: expected one value for all elements that the tracer {self.mask.aval} chooses, because their "
                f"number is not known, got values of the shape {have}; choose with lawful.numpy.where(mask, y, x)"
            )
        return reshape(values, (*have[:place], *[1] * len(self.dims), *have[place + 1 :]))

    def select(self, chosen: Any, others: Any) -> Any:
        """Returns values where the boolean array holds, and others elsewhere, with the dimensions of ``x[around]``.

        What is chosen between goes into the update, not what comes out of it: a derivative by an update that is not
        made could be NaN, also times zero.
        """
        sizes = tuple([size if dim in self.dims else 1 for dim, size in enumerate(self.shape)])
        return where(reshape(self.mask, sizes), chosen, others)


def _is_traced_mask(entry: Any) -> bool:
    return isinstance(entry, Tracer) and entry.dtype.kind == "b" and entry.concrete() is None
