"""New node types: a user's own containers as trees."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import methodcaller
from typing import Any

from lawful.tree._nodes.key import DictKey, KeyEntry
from lawful.tree._nodes.node_type import show_keys, sorted_keys
from lawful.tree._nodes.registry import add, custom_node_type, node_type_of, refuse_bad_registration, require_node
from lawful.tree.base.errors import TreeTypeError


def register_node[T](
    nodetype: type[T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Hashable]],
    unflatten_func: Callable[[Any, Any], T],
    flatten_with_keys_func: Callable[[T], tuple[Iterable[tuple[KeyEntry, Any]], Hashable]] | None = None,
) -> None:
    """Makes the values of a type nodes of trees.

    Args:
      nodetype: the type. Its subclasses are not registered with it.
      flatten_func: takes a node, returns its children and its auxiliary data, which are part of the structure:
        hashable and comparable, such as tuples, strings, numbers.
      unflatten_func: takes auxiliary data and a tuple of children, returns a node. The children may be any values,
        so it should not check them.
      flatten_with_keys_func: as ``flatten_func``, with a pair (key, child) for each child, for key paths.

    Raises:
      ArgumentValueError: the type is a node type already.
      TreeTypeError: ``nodetype`` is not a class, or a function is not callable.

    Example:
      >>> from lawful import tree
      >>> class Box:
      ...     def __init__(self, content, label):
      ...         self.content, self.label = content, label
      >>> tree.register_node(Box, lambda box: ((box.content,), box.label), lambda label, xs: Box(*xs, label))
      >>> tree.structure([Box((1, 2), "b")])
      PyTreeDef([CustomNode(Box[b], [(*, *)])])

    Source: ``jax.tree_util.register_pytree_node``.
    """
    refuse_bad_registration("register_node", nodetype, flatten_func=flatten_func, unflatten_func=unflatten_func)
    add(custom_node_type(nodetype, flatten_func, unflatten_func, flatten_with_keys_func))


def register_node_with_keys[T](
    nodetype: type[T],
    flatten_with_keys: Callable[[T], tuple[Iterable[tuple[KeyEntry, Any]], Hashable]],
    unflatten_func: Callable[[Any, Any], T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Hashable]] | None = None,
) -> None:
    """Makes the values of a type nodes of trees, with a key for each child.

    Args:
      nodetype: the type. Its subclasses are not registered with it.
      flatten_with_keys: takes a node, returns pairs (key, child) and the auxiliary data. A key is a
        :class:`GetAttrKey`, :class:`DictKey`, :class:`SequenceKey` or any value with a ``str``.
      unflatten_func: takes auxiliary data and a tuple of children, returns a node.
      flatten_func: as ``flatten_with_keys`` without the keys, where that is faster.

    Raises:
      ArgumentValueError: the type is a node type already.
      TreeTypeError: ``nodetype`` is not a class, or a function is not callable.

    Example:
      >>> from lawful import tree
      >>> class Line:
      ...     def __init__(self, start, end):
      ...         self.start, self.end = start, end
      >>> tree.register_node_with_keys(
      ...     Line,
      ...     lambda line: ([(tree.GetAttrKey("start"), line.start), (tree.GetAttrKey("end"), line.end)], None),
      ...     lambda _, ends: Line(*ends),
      ... )
      >>> [tree.keystr(path) for path, _ in tree.leaves_with_path([Line(1, 2)])]
      ['[0].start', '[0].end']

    Source: ``jax.tree_util.register_pytree_with_keys``.
    """
    refuse_bad_registration(
        "register_node_with_keys", nodetype, flatten_with_keys=flatten_with_keys, unflatten_func=unflatten_func
    )

    def flatten_without_keys(node: T) -> tuple[Iterable[Any], Any]:
        _, children, aux = keyed(node)
        return children, aux

    node_type = custom_node_type(nodetype, flatten_func or flatten_without_keys, unflatten_func, flatten_with_keys)
    assert node_type.keyed is not None
    keyed = node_type.keyed
    add(node_type)


def register_node_class[C: type[Any]](cls: C) -> C:
    """Makes the values of a class nodes of trees, through its methods; returns the class, for use as a decorator.

    Args:
      cls: a class with a method ``tree_flatten(self) -> (children, aux_data)`` and a class method
        ``tree_unflatten(cls, aux_data, children)``.

    Raises:
      ArgumentValueError: the class is a node type already.
      TreeTypeError: a method is missing.

    Example:
      >>> from lawful import tree
      >>> @tree.register_node_class
      ... class Pair:
      ...     def __init__(self, x, y):
      ...         self.x, self.y = x, y
      ...
      ...     def tree_flatten(self):
      ...         return (self.x, self.y), None
      ...
      ...     @classmethod
      ...     def tree_unflatten(cls, aux_data, children):
      ...         return cls(*children)
      >>> tree.leaves(Pair(1, (2, 3)))
      [1, 2, 3]

    Source: ``jax.tree_util.register_pytree_node_class``.
    """
    _refuse_missing_methods("register_node_class", cls, "tree_flatten", "tree_unflatten")
    register_node(cls, methodcaller("tree_flatten"), cls.tree_unflatten)
    return cls


def register_node_with_keys_class[C: type[Any]](cls: C) -> C:
    """Makes the values of a class nodes with keys, through its methods; returns the class, for use as a decorator.

    Args:
      cls: a class with a method ``tree_flatten_with_keys(self) -> (pairs (key, child), aux_data)``, a class method
        ``tree_unflatten(cls, aux_data, children)``, and perhaps a method ``tree_flatten``, where that is faster.

    Raises:
      ArgumentValueError: the class is a node type already.
      TreeTypeError: a method is missing.

    Example:
      >>> from lawful import tree
      >>> @tree.register_node_with_keys_class
      ... class Named:
      ...     def __init__(self, value):
      ...         self.value = value
      ...
      ...     def tree_flatten_with_keys(self):
      ...         return [(tree.GetAttrKey("value"), self.value)], None
      ...
      ...     @classmethod
      ...     def tree_unflatten(cls, aux_data, children):
      ...         return cls(*children)
      >>> tree.leaves_with_path(Named(1))
      [((GetAttrKey(name='value'),), 1)]

    Source: ``jax.tree_util.register_pytree_with_keys_class``.
    """
    _refuse_missing_methods("register_node_with_keys_class", cls, "tree_flatten_with_keys", "tree_unflatten")
    flatten_func = methodcaller("tree_flatten") if hasattr(cls, "tree_flatten") else None
    register_node_with_keys(cls, methodcaller("tree_flatten_with_keys"), cls.tree_unflatten, flatten_func)
    return cls


def _refuse_missing_methods(caller: str, cls: Any, *methods: str) -> None:
    for method in methods:
        if not hasattr(cls, method):
            name = getattr(cls, "__name__", repr(cls))
            raise TreeTypeError(f"{caller}: expected {name} to have a method {method}, got none; define it")


def register_static[C: type[Any]](cls: C) -> C:
    """Makes the values of a class nodes without children, part of the structure; returns the class.

    Args:
      cls: a class whose values are hashable and comparable.

    Raises:
      ArgumentValueError: the class is a node type already.
      TreeTypeError: ``cls`` is not a class.

    Example:
      >>> from lawful import tree
      >>> @tree.register_static
      ... class Mode(str):
      ...     pass
      >>> tree.leaves([1.0, Mode("train")])
      [1.0]

    Source: ``jax.tree_util.register_static``.
    """
    refuse_bad_registration("register_static", cls)
    add(custom_node_type(cls, lambda value: ((), value), lambda value, _: value))
    return cls


def is_tree_node(typ: type) -> bool:
    """Returns whether the values of a type are nodes: of a built-in node type, a namedtuple, or a registered one.

    Example:
      >>> from lawful import tree
      >>> tree.is_tree_node(list), tree.is_tree_node(float)
      (True, False)

    Source: ``jax.tree_util.is_tree_node``.
    """
    return node_type_of(typ) is not None


def flatten_one_level(tree: Any) -> tuple[Sequence[Any], Any]:
    """Returns the children of a node, and its auxiliary data.

    Raises:
      TreeNodeError: the value is a leaf.

    Example:
      >>> from lawful import tree
      >>> tree.flatten_one_level({"a": [1, 2], "b": {"c": 3}})
      (([1, 2], {'c': 3}), ('a', 'b'))

    Source: ``jax.tree_util.flatten_one_level``.
    """
    children, aux = require_node("flatten_one_level", tree).one_level(tree)
    return tuple(children), aux


def flatten_one_level_with_keys(tree: Any) -> tuple[Sequence[tuple[KeyEntry, Any]], Any]:
    """Returns the children of a node, each in a pair with its key, and its auxiliary data.

    Raises:
      TreeNodeError: the value is a leaf.

    Example:
      >>> from lawful import tree
      >>> tree.flatten_one_level_with_keys([1, (2, 3)])
      ([(SequenceKey(idx=0), 1), (SequenceKey(idx=1), (2, 3))], None)

    Source: ``jax.tree_util.flatten_one_level_with_keys``.
    """
    keys, children, aux = require_node("flatten_one_level_with_keys", tree).open_with_keys(tree)
    return list(zip(keys, children, strict=True)), aux


def _keys_of(aux: Sequence[Any], _: int) -> Sequence[KeyEntry]:
    return [DictKey(key) for key in aux]


add(
    custom_node_type(
        OrderedDict,
        lambda node: (tuple(node.values()), tuple(node)),
        lambda keys, children: OrderedDict(zip(keys, children, strict=True)),
        keys=_keys_of,
        describe=lambda keys, _: f"an OrderedDict with keys {show_keys(keys)} in this order",
        trusted=True,
    )
)


def _flatten_defaultdict(node: defaultdict[Any, Any]) -> tuple[Sequence[Any], Any]:
    keys = sorted_keys(node)
    return [node[key] for key in keys], (node.default_factory, keys)


add(
    custom_node_type(
        defaultdict,
        _flatten_defaultdict,
        lambda aux, children: defaultdict(aux[0], zip(aux[1], children, strict=True)),
        keys=lambda aux, _: _keys_of(aux[1], _),
        describe=lambda aux, _: f"a defaultdict of {aux[0]!r} with keys {show_keys(aux[1])}",
        trusted=True,
    )
)
