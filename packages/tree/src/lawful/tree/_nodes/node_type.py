"""Node types: how a node opens into children, and how it is rebuilt from them.

A :class:`NodeType` is plain data. Finding the node type of a value is one dict lookup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import FunctionType, NoneType
from typing import Any

from lawful.tree._nodes.key import DictKey, FlattenedIndexKey, GetAttrKey, KeyEntry, SequenceKey
from lawful.tree.base.errors import TreeNodeError, TreeTypeError
from lawful.tree.base.record import record

# The tokens that flattening writes and a treedef is built from; see _treedef.
type Signature = list[Any]

# The first entry of a signature: EXACT if equal signatures imply equal trees, so that it may be a cache key.
EXACT, INEXACT = 0, -1


@record
class NodeType:
    """How to take apart, rebuild and print the nodes of one type.

    Args:
      cls: the type of the nodes, not of its subclasses.
      one_level: ``node -> (children, aux)``.
      keys: ``(aux, number of children) -> key of each child``.
      rebuild: ``(aux, children) -> node``, where children is an iterable.
      show: ``(aux, printed children) -> text``, for printing a treedef.
      describe: ``(aux, number of children) -> text``, for an error: "a tuple of length 2".
      open: ``(node, signature) -> children``, writing what :func:`write_head` would; None for a sequence,
        which is its own children.
      has_aux: whether nodes have auxiliary data, which is then part of the signature.
      keyed: ``node -> (keys, children, aux)`` where the keys come from the node and not from its aux data.
    """

    cls: type
    one_level: Callable[[Any], tuple[Sequence[Any], Any]]
    keys: Callable[[Any, int], Sequence[KeyEntry]]
    rebuild: Callable[[Any, Iterable[Any]], Any]
    show: Callable[[Any, list[str]], str]
    describe: Callable[[Any, int], str]
    open: Callable[[Any, Signature], Sequence[Any]] | None = None
    has_aux: bool = False
    keyed: Callable[[Any], tuple[Sequence[KeyEntry], Sequence[Any], Any]] | None = None

    # Two node types are equal only if they are the same object.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def open_with_keys(self, node: Any) -> tuple[Sequence[KeyEntry], Sequence[Any], Any]:
        """Returns the keys of a node's children, the children, and the aux data."""
        if self.keyed is not None:
            return self.keyed(node)
        children, aux = self.one_level(node)
        return self.keys(aux, len(children)), children, aux


# Types whose equal values are indistinguishable, so that treedefs may share them. float is not one (0.0 == -0.0), nor
# is a user's class, which defines its own equality.
_EXACT_TYPES = frozenset({str, int, bytes, bool, NoneType, type})
_EXACT_KEY_TYPES = frozenset({str, int, bytes})


def exact_type(value: Any) -> Any:
    """Returns a token that, together with the value, is equal only for indistinguishable values; None if unsure.

    ``1 == True == 1.0``, so a value alone is not enough. A closure is never exact: the cache of treedefs would keep
    alive whatever it has captured.
    """
    cls = type(value)
    if cls in _EXACT_TYPES:
        return cls
    if cls is tuple:
        types = tuple([exact_type(item) for item in value])
        return None if None in types else types
    if cls is float:
        return cls if value and value == value else None
    if cls is FunctionType:
        return cls if value.__closure__ is None and "<locals>" not in value.__qualname__ else None
    return None


def same_aux(aux: Any, other: Any, nodetype: type) -> bool:
    """Returns whether the auxiliary data of two nodes of a type are equal."""
    if aux is other:
        return True
    try:
        return bool(aux == other)
    except (TypeError, ValueError) as error:
        raise TreeNodeError(
            f"comparing tree structures: expected auxiliary data of {nodetype.__name__} that == can compare, got "
            f"{aux!r} and {other!r} ({error}); return tuples, strings and numbers as aux_data, and arrays as children"
        ) from error


def write_head(node_type: NodeType, aux: Any, length: int, signature: Signature) -> None:
    """Appends the tokens of a node's signature, apart from those of its children."""
    if node_type is DICT:
        if not _EXACT_KEY_TYPES.issuperset(map(type, aux)):
            signature[0] = INEXACT
        signature.append(aux)
        return
    if node_type.has_aux:
        types = exact_type(aux)
        if types is None:
            signature[0] = INEXACT
        signature.append((aux, types))
    signature.append(length)


def read_head(node_type: NodeType, signature: Sequence[Any], index: int) -> tuple[Any, int, int]:
    """Reads what :func:`write_head` wrote: the aux data, the number of children, the next index."""
    if node_type is DICT:
        return signature[index], len(signature[index]), index + 1
    if node_type.has_aux:
        return signature[index][0], signature[index + 1], index + 2
    return None, signature[index], index + 1


def _length_of(name: str) -> Callable[[Any, int], str]:
    return lambda _, length: f"a {name} of length {length}" if length else f"an empty {name}"


def sequence_keys(_: Any, length: int) -> Sequence[KeyEntry]:
    return [SequenceKey(index) for index in range(length)]


def flat_index_keys(_: Any, length: int) -> Sequence[KeyEntry]:
    return [FlattenedIndexKey(index) for index in range(length)]


def dict_keys(keys: Sequence[Any], _: int) -> Sequence[KeyEntry]:
    return [DictKey(key) for key in keys]


def show_keys(keys: Sequence[Any], *, limit: int = 12) -> str:
    """Returns the first few keys as text."""
    more = f", … {len(keys) - limit} more" if len(keys) > limit else ""
    return ", ".join([repr(key) for key in keys[:limit]]) + more


def describe_dict(keys: Sequence[Any], _: int) -> str:
    return f"a dict with keys {show_keys(keys)}" if keys else "an empty dict"


def sorted_keys(node: dict[Any, Any]) -> tuple[Any, ...]:
    """Returns the keys of a dict in the order of its leaves."""
    try:
        return tuple(sorted(node))
    except TypeError as error:
        raise TreeTypeError(
            f"flatten: expected a {type(node).__name__} whose keys can be sorted, got one with keys "
            f"{show_keys(list(node))} ({error}); use keys of one type, or an OrderedDict, which keeps its own order"
        ) from error


def _open_dict(node: dict[Any, Any], signature: Signature) -> Sequence[Any]:
    if not node:
        signature.append(())
        return ()
    keys = sorted_keys(node)
    signature.append(keys)
    children = []
    for key in keys:
        if type(key) not in _EXACT_KEY_TYPES:
            signature[0] = INEXACT
        children.append(node[key])
    return children


def _dict_one_level(node: dict[Any, Any]) -> tuple[Sequence[Any], Any]:
    keys = sorted_keys(node)
    return [node[key] for key in keys], keys


def _open_none(_: None, signature: Signature) -> Sequence[Any]:
    signature.append(0)
    return ()


TUPLE = NodeType(
    tuple,
    one_level=lambda node: (node, None),
    keys=sequence_keys,
    rebuild=lambda _, children: tuple(children),
    show=lambda _, shown: f"({shown[0]},)" if len(shown) == 1 else f"({', '.join(shown)})",
    describe=_length_of("tuple"),
)

LIST = NodeType(
    list,
    one_level=lambda node: (node, None),
    keys=sequence_keys,
    rebuild=lambda _, children: list(children),
    show=lambda _, shown: f"[{', '.join(shown)}]",
    describe=_length_of("list"),
)

DICT = NodeType(
    dict,
    one_level=_dict_one_level,
    keys=dict_keys,
    rebuild=lambda keys, children: dict(zip(keys, children, strict=True)),
    show=lambda keys, shown: "{" + ", ".join([f"{k!r}: {c}" for k, c in zip(keys, shown, strict=True)]) + "}",
    describe=describe_dict,
    open=_open_dict,
    has_aux=True,
)

NONE = NodeType(
    NoneType,
    one_level=lambda _: ((), None),
    keys=sequence_keys,
    rebuild=lambda _, __: None,
    show=lambda _, __: "None",
    describe=lambda _, __: "None",
    open=_open_none,
)


def namedtuple_node_type(nodetype: Any) -> NodeType:
    """Returns the node type of a namedtuple type, which needs no registration."""
    fields = nodetype._fields
    every = slice(None)

    def one_level(node: tuple[Any, ...]) -> tuple[Sequence[Any], Any]:
        return tuple.__getitem__(node, every), None

    def open_subclass(node: tuple[Any, ...], signature: Signature) -> Sequence[Any]:
        signature.append(tuple.__len__(node))
        return tuple.__getitem__(node, every)

    # A subclass may iterate over something other than its fields.
    is_plain = nodetype.__iter__ is tuple.__iter__ and nodetype.__len__ is tuple.__len__
    return NodeType(
        nodetype,
        one_level=one_level,
        keys=lambda _, __: [GetAttrKey(field) for field in fields],
        rebuild=lambda _, children: nodetype(*children),
        show=lambda _, shown: f"CustomNode(namedtuple[{nodetype.__name__}], [{', '.join(shown)}])",
        describe=lambda _, __: f"a namedtuple {nodetype.__name__}({', '.join(fields)})",
        open=None if is_plain else open_subclass,
    )
