"""The registry of node types. The node type of a value is one lookup, ``NODE_TYPES[type(value)]``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lawful.tree._nodes.key import KeyEntry
from lawful.tree._nodes.node_type import (
    DICT,
    LIST,
    NONE,
    TUPLE,
    NodeType,
    Signature,
    flat_index_keys,
    namedtuple_node_type,
    write_head,
)
from lawful.tree.base.cache import DictCache
from lawful.tree.base.errors import ArgumentValueError, TreeNodeError, TreeTypeError

# Built-in and registered node types, which no cache removes.
_registered: dict[type, NodeType] = {node_type.cls: node_type for node_type in (TUPLE, LIST, DICT, NONE)}


class _SeenTypes(DictCache[type, NodeType | None]):
    """A cache of unregistered types: the node type of a namedtuple type, None for a type of leaves.

    ``entries`` also contains the registered types.
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("types in trees", 1024)
        self.entries.update(_registered)

    def __len__(self) -> int:
        return len(self.entries) - len(_registered)

    def clear(self) -> None:
        """Removes every type that is not registered."""
        super().clear()
        self.entries.update(_registered)


_seen_types = _SeenTypes()
NODE_TYPES = _seen_types.entries


def node_type_of(cls: type) -> NodeType | None:
    """Returns the node type of a class, or None if its values are leaves."""
    try:
        return NODE_TYPES[cls]
    except KeyError:
        return _find_node_type(cls)


def _find_node_type(cls: type) -> NodeType | None:
    node_type = _registered.get(cls)
    if node_type is None and issubclass(cls, tuple) and hasattr(cls, "_fields"):
        node_type = namedtuple_node_type(cls)
    return _seen_types.insert(cls, node_type)


def require_node(where: str, value: Any) -> NodeType:
    """Returns the node type of a value; raises the error for a leaf."""
    node_type = node_type_of(type(value))
    if node_type is None:
        raise TreeNodeError(
            f"{where}: expected a node of a tree, got a leaf of type {type(value).__name__}; give a container, or "
            "register the type as a node"
        )
    return node_type


def refuse_bad_registration(caller: str, nodetype: Any, **functions: Any) -> None:
    """Raises the error for a type that cannot be registered, or for a function that is not one."""
    if not isinstance(nodetype, type):
        raise TreeTypeError(f"{caller}: expected a class as nodetype, got {nodetype!r}; give the class itself")
    if nodetype in _registered:
        raise ArgumentValueError(
            f"{caller}: expected a type that is not a node type yet, got {nodetype.__name__}, which is; "
            "register a type once, where it is defined"
        )
    for name, function in functions.items():
        if not callable(function):
            raise TreeTypeError(f"{caller}: expected a function as {name}, got {function!r}; give a callable")


def add(node_type: NodeType) -> None:
    """Registers a node type."""
    _registered[node_type.cls] = node_type
    NODE_TYPES[node_type.cls] = node_type


def _pair(function: str, nodetype: type, result: Any) -> tuple[Any, Any]:
    if not (isinstance(result, tuple) and len(result) == 2):
        raise TreeNodeError(
            f"the {function} function of {nodetype.__name__}: expected a pair (children, aux_data), got {result!r}; "
            "return a tuple of an iterable and hashable auxiliary data (None if there is none)"
        )
    children, aux = result
    # The common cases first: isinstance with an abstract class is slow.
    if type(children) is not tuple and type(children) is not list and not isinstance(children, Iterable):
        raise TreeNodeError(
            f"the {function} function of {nodetype.__name__}: expected an iterable of children as first of the pair, "
            f"got {children!r}; return (children, aux_data)"
        )
    return children, aux


def custom_node_type(
    nodetype: type,
    flatten_func: Callable[[Any], Any],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_with_keys: Callable[[Any], Any] | None = None,
    *,
    keys: Callable[[Any, int], Sequence[KeyEntry]] = flat_index_keys,
    describe: Callable[[Any, int], str] | None = None,
    trusted: bool = False,
) -> NodeType:
    """Returns the node type of a registered class; unless ``trusted``, its functions' results are checked."""
    name = nodetype.__name__

    def describe_node(aux: Any, length: int) -> str:
        children = "1 child" if length == 1 else f"{length} children"
        return f"a {name} with {children}" + ("" if aux is None else f" and auxiliary data {aux!r}")

    def one_level(node: Any) -> tuple[Sequence[Any], Any]:
        children, aux = _pair("flatten", nodetype, flatten_func(node))
        return tuple(children), aux

    def open_node(node: Any, signature: Signature) -> Sequence[Any]:
        children, aux = node_type.one_level(node)
        write_head(node_type, aux, len(children), signature)
        return children

    def keyed(node: Any) -> tuple[Sequence[KeyEntry], Sequence[Any], Any]:
        assert flatten_with_keys is not None
        pairs, aux = _pair("flatten_with_keys", nodetype, flatten_with_keys(node))
        node_keys, children = [], []
        for pair in pairs:
            if not (isinstance(pair, tuple | list) and len(pair) == 2):
                raise TreeTypeError(
                    f"the flatten_with_keys function of {name}: expected a pair (key, child) for each child, "
                    f"got {pair!r}; return ([(key, child), …], aux_data)"
                )
            node_keys.append(pair[0])
            children.append(pair[1])
        return node_keys, children, aux

    node_type = NodeType(
        nodetype,
        one_level=flatten_func if trusted else one_level,
        keys=keys,
        rebuild=lambda aux, children: unflatten_func(aux, tuple(children)),
        show=lambda aux, shown: f"CustomNode({name}[{aux}], [{', '.join(shown)}])",
        describe=describe or describe_node,
        open=open_node,
        has_aux=True,
        keyed=None if flatten_with_keys is None else keyed,
    )
    return node_type


def node_type_to_unpickle(nodetype: type) -> NodeType:
    """Returns the node type of a class, which a pickled structure names; raises TreeTypeError if it has none."""
    node_type = node_type_of(nodetype)
    if node_type is None:
        raise TreeTypeError(
            f"unpickling a PyTreeDef: expected {nodetype.__qualname__} of module {nodetype.__module__} to be a node "
            "type, as where it was pickled; register it before unpickling"
        )
    return node_type
