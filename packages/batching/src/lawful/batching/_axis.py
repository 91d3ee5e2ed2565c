"""The mapped axis, and the operations that name it."""

from __future__ import annotations

from collections.abc import Hashable

from lawful.core import Jaxpr, jaxprs_in_params, record


@record
class AxisData:
    """The axis that is mapped over: its size, its name if it has one, and the axes of a mesh that it is split over.

    >>> AxisData(3, "rows")
    AxisData(size=3, name='rows', spmd_axes=())
    """

    size: int
    name: Hashable | None = None
    spmd_axes: tuple[Hashable, ...] = ()


def names_axis(axis_name: Hashable, name: Hashable) -> bool:
    """Whether the parameter ``axis_name`` of a collective, a name or a tuple of them, has a name."""
    return axis_name == name or (type(axis_name) is tuple and name in axis_name)


def mentions_axis(jaxpr: Jaxpr, name: Hashable | None = None) -> bool:
    """Whether an equation of a jaxpr, or of one inside it, is over the axis of this name; None means any name.

    >>> from lawful.batching import psum, vmap
    >>> from lawful.staging import make_jaxpr
    >>> closed = make_jaxpr(lambda x: psum(x, "i"), axis_env=[("i", 3)])(2.0)
    >>> mentions_axis(closed.jaxpr, "i"), mentions_axis(closed.jaxpr, "j")
    (True, False)
    """
    pending = [jaxpr]
    while pending:
        for eqn in pending.pop().eqns:
            found = eqn.params.get("axis_name")
            if found is not None and (name is None or names_axis(found, name)):
                return True
            pending.extend(jaxprs_in_params(eqn.params))
    return False
