"""Which types are nodes. Finding the kind of a value is one lookup, ``KINDS[type(value)]``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lawful.tree._key import KeyEntry
from lawful.tree._kind import DICT, LIST, NONE, TUPLE, Kind, Signature, flat_index_keys, namedtuple_kind, write_head
from lawful.tree.base.cache import DictCache
from lawful.tree.base.errors import ArgumentValueError, TreeTypeError

# The node types for good: the built-in and the registered ones.
_registered: dict[type, Kind] = {kind.nodetype: kind for kind in (TUPLE, LIST, DICT, NONE)}


class _TypesMet(DictCache[type, Kind | None]):
    """Types met so far that are not registered: the kind of a namedtuple type, None for a type of leaves.

    The registered types are beside them in ``entries``.
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


_types_met = _TypesMet()
KINDS = _types_met.entries


def kind_of(cls: type) -> Kind | None:
    """Returns the kind of the nodes of a type, or None if its values are leaves."""
    try:
        return KINDS[cls]
    except KeyError:
        return _find_kind(cls)


def _find_kind(cls: type) -> Kind | None:
    kind = _registered.get(cls)
    if kind is None and issubclass(cls, tuple) and hasattr(cls, "_fields"):
        kind = namedtuple_kind(cls)
    return _types_met.insert(cls, kind)


def kind_of_node(where: str, value: Any) -> Kind:
    """Returns the kind of a node; raises the error for a leaf."""
    kind = kind_of(type(value))
    if kind is None:
        raise TreeTypeError(
            f"{where}: expected a node of a tree, got a leaf of type {type(value).__name__}; give a container, or "
            "register the type as a node"
        )
    return kind


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


def add(kind: Kind) -> None:
    """Makes a type a node type from now on."""
    _registered[kind.nodetype] = kind
    KINDS[kind.nodetype] = kind


def _pair(function: str, nodetype: type, result: Any) -> tuple[Any, Any]:
    if not (isinstance(result, tuple) and len(result) == 2):
        raise TreeTypeError(
            f"the {function} function of {nodetype.__name__}: expected a pair (children, aux_data), got {result!r}; "
            "return a tuple of an iterable and hashable auxiliary data (None if there is none)"
        )
    children, aux = result
    # Most often a tuple or a list; asking an abstract class is slow.
    if type(children) is not tuple and type(children) is not list and not isinstance(children, Iterable):
        raise TreeTypeError(
            f"the {function} function of {nodetype.__name__}: expected an iterable of children as first of the pair, "
            f"got {children!r}; return (children, aux_data)"
        )
    return children, aux


def custom_kind(
    nodetype: type,
    flatten_func: Callable[[Any], Any],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_with_keys: Callable[[Any], Any] | None = None,
    *,
    keys: Callable[[Any, int], Sequence[KeyEntry]] = flat_index_keys,
    describe: Callable[[Any, int], str] | None = None,
    trusted: bool = False,
) -> Kind:
    """Returns the kind of a registered type; unless trusted, what its functions return is checked at each use."""
    name = nodetype.__name__

    def describe_node(aux: Any, length: int) -> str:
        children = "1 child" if length == 1 else f"{length} children"
        return f"a {name} with {children}" + ("" if aux is None else f" and auxiliary data {aux!r}")

    def one_level(node: Any) -> tuple[Sequence[Any], Any]:
        children, aux = _pair("flatten", nodetype, flatten_func(node))
        return tuple(children), aux

    def open_node(node: Any, signature: Signature) -> Sequence[Any]:
        children, aux = kind.one_level(node)
        write_head(kind, aux, len(children), signature)
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

    kind = Kind(
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
    return kind
