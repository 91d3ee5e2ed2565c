"""Dataclasses as nodes of trees."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from lawful.tree._nodes.key import GetAttrKey
from lawful.tree._nodes.registry import add, custom_node_type, refuse_bad_registration
from lawful.tree.base.errors import ArgumentValueError, TreeTypeError


def register_dataclass[C: type[Any]](
    nodetype: C,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> C:
    """Makes the values of a dataclass nodes of trees; returns the class, for use as a decorator.

    Without ``data_fields`` and ``meta_fields``, the fields made with :func:`static` (or with ``static=True`` in their
    metadata) are meta fields, and the others data fields.

    Args:
      nodetype: a dataclass, or a class whose constructor takes the fields as keyword arguments.
      data_fields: the names of the fields whose values are children.
      meta_fields: the names of the fields whose values are part of the structure: hashable and comparable.
      drop_fields: the names of the fields to leave out; they must have defaults.

    Raises:
      ArgumentValueError: the class is a node type already, a field is missing, unknown, or both data and meta.
      TreeTypeError: only one of ``data_fields`` and ``meta_fields`` is given, or neither for a class that is not a
        dataclass.

    Example:
      >>> from dataclasses import dataclass
      >>> from lawful import tree
      >>> @tree.register_dataclass
      ... @dataclass
      ... class Layer:
      ...     weight: float
      ...     activation: str = tree.static(default="relu")
      >>> tree.flatten(Layer(3.0))
      ([3.0], PyTreeDef(CustomNode(Layer[('relu',)], [*])))
      >>> tree.map(lambda x: x + 1, Layer(3.0))
      Layer(weight=4.0, activation='relu')

    Source: ``jax.tree_util.register_dataclass``.
    """
    refuse_bad_registration("register_dataclass", nodetype)
    if (data_fields is None) != (meta_fields is None):
        raise TreeTypeError(
            f"register_dataclass: expected both data_fields and meta_fields, or neither, got {data_fields=} and "
            f"{meta_fields=}; give the other one too"
        )
    fields = dataclasses.fields(nodetype) if dataclasses.is_dataclass(nodetype) else None
    if data_fields is None or meta_fields is None:
        if fields is None:
            raise TreeTypeError(
                f"register_dataclass: expected a dataclass, got {nodetype.__name__}; put @dataclass below "
                "@register_dataclass, or give data_fields and meta_fields"
            )
        kept = [field for field in fields if field.name not in drop_fields]
        data_fields = [field.name for field in kept if not field.metadata.get("static", False)]
        meta_fields = [field.name for field in kept if field.metadata.get("static", False)]
    data, meta = tuple(data_fields), tuple(meta_fields)
    if fields is not None:
        _check_fields(nodetype.__name__, data, meta, {field.name for field in fields if field.init} - {*drop_fields})
    if both := sorted({*data} & {*meta}):
        raise ArgumentValueError(
            f"register_dataclass: expected each field of {nodetype.__name__} in data_fields or in meta_fields, got "
            f"{', '.join(both)} in both; remove it from one"
        )
    names = data + meta
    data_of, meta_of = _getter(data), _getter(meta)
    keys = [GetAttrKey(name) for name in data]
    described = f"a {nodetype.__name__}" + (f" with {', '.join(meta)} = " if meta else "")
    add(
        custom_node_type(
            nodetype,
            lambda node: (data_of(node), meta_of(node)),
            lambda aux, children: nodetype(**dict(zip(names, (*children, *aux), strict=True))),
            keys=lambda _, __: keys,
            describe=lambda aux, _: described + ", ".join([repr(value) for value in aux]),
            trusted=True,
        )
    )
    return nodetype


def _check_fields(name: str, data: tuple[str, ...], meta: tuple[str, ...], init_fields: set[str]) -> None:
    given = {*data, *meta}
    if missing := sorted(init_fields - given):
        raise ArgumentValueError(
            f"register_dataclass: expected every field of {name} that its constructor takes in data_fields or "
            f"meta_fields, got none with {', '.join(missing)}; add it, or put it in drop_fields"
        )
    if unexpected := sorted(given - init_fields):
        raise ArgumentValueError(
            f"register_dataclass: expected fields that the constructor of {name} takes, got {', '.join(unexpected)}; "
            "remove it, or put a field made with init=False in drop_fields"
        )


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Returns the function that takes the attributes of those names, as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    if names:
        (name,) = names
        return lambda node: (getattr(node, name),)
    return lambda _: ()


# Type checkers know `dataclasses.field` by name, and have to see it in a dataclass's body.
if TYPE_CHECKING:
    static = dataclasses.field
else:

    def static(**kwargs):
        """Returns a dataclass field that is part of the structure, not a child: for `register_dataclass`.

        Args:
          **kwargs: those of ``dataclasses.field``.

        Example:
          >>> from dataclasses import dataclass, fields
          >>> from lawful import tree
          >>> @dataclass
          ... class Layer:
          ...     weight: float
          ...     name: str = tree.static(default="linear")
          >>> [field.metadata.get("static", False) for field in fields(Layer)]
          [False, True]

        Source: ``jax.tree.static``.
        """
        metadata = {"static": True, **(kwargs.pop("metadata", None) or {})}
        return dataclasses.field(metadata=metadata, **kwargs)
