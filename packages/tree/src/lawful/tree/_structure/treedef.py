"""The structure of a pytree: everything but its leaves."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import islice
from typing import Any, Self

from lawful.tree._nodes.node_type import DICT, EXACT, NodeType, Signature, read_head, same_aux, write_head
from lawful.tree._nodes.registry import node_type_to_unpickle
from lawful.tree._structure.cache import MAX_TOKENS, StructureCache
from lawful.tree._structure.difference import at, leaf_path, mismatch_error, open_tree, open_treedef, show
from lawful.tree._structure.traversal import Maker, Matcher, maker_of, matcher_of
from lawful.tree.base.errors import TreeNodeError, TreeStructureError, TreeTypeError
from lawful.tree.base.exact_key import contents_key, exact_key


class PyTreeDef:
    """The structure of a pytree: node types, their keys and auxiliary data, and where the leaves go.

    Made by :func:`structure` and :func:`flatten`. Immutable; equal structures are equal and have equal hashes, and
    are mostly one object, so that comparing them costs nothing. Pickles where the node types and their auxiliary
    data do.

    Example:
      >>> from lawful import tree
      >>> treedef = tree.structure({"a": 1, "b": (2, 3)})
      >>> treedef
      PyTreeDef({'a': *, 'b': (*, *)})
      >>> treedef.num_leaves
      3
      >>> treedef.unflatten([10, 20, 30])
      {'a': 10, 'b': (20, 30)}

    Source: ``jax.tree_util.PyTreeDef``.
    """

    __slots__ = (
        "__weakref__",
        "_aux",
        "_exact_key",
        "_hash",
        "_is_flat",
        "_maker",
        "_matcher",
        "_node_type",
        "_num_leaves",
        "_num_nodes",
        "_subtrees",
    )

    _node_type: NodeType | None
    _aux: Any
    _subtrees: tuple[PyTreeDef, ...]
    _num_leaves: int
    _num_nodes: int
    _is_flat: bool
    _exact_key: Hashable | None
    _hash: int | None
    _maker: Maker | None
    _matcher: Matcher | None

    def __init__(self, node_type: NodeType | None, aux: Any, subtrees: tuple[PyTreeDef, ...]) -> None:
        self._node_type = node_type
        self._aux = aux
        self._subtrees = subtrees
        self._num_leaves = 1 if node_type is None else sum([subtree._num_leaves for subtree in subtrees])
        self._num_nodes = 1 + sum([subtree._num_nodes for subtree in subtrees])
        # Are all children leaves?
        self._is_flat = self._num_leaves == len(subtrees) == self._num_nodes - 1
        self._exact_key = None
        self._hash = None
        self._maker = None
        self._matcher = None

    @property
    def num_leaves(self) -> int:
        """The number of leaves."""
        return self._num_leaves

    @property
    def num_nodes(self) -> int:
        """The number of nodes, leaves included."""
        return self._num_nodes

    def children(self) -> list[PyTreeDef]:
        """Returns the structures of the root's children.

        Example:
          >>> from lawful import tree
          >>> tree.structure([(1, 2), 3]).children()
          [PyTreeDef((*, *)), PyTreeDef(*)]
        """
        return list(self._subtrees)

    def node_data(self) -> tuple[type, Any] | None:
        """Returns the root's type and auxiliary data (a dict's keys), or None for a leaf.

        Example:
          >>> from lawful import tree
          >>> tree.structure({"b": 1, "a": 2}).node_data()
          (<class 'dict'>, ['a', 'b'])
        """
        if self._node_type is None:
            return None
        return self._node_type.cls, list(self._aux) if self._node_type is DICT else self._aux

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Returns the tree of this structure with the given leaves.

        Raises:
          TreeStructureError: the number of leaves is not ``num_leaves``.

        Example:
          >>> from lawful import tree
          >>> tree.structure([0, (0, 0)]).unflatten("abc")
          ['a', ('b', 'c')]
        """
        if type(leaves) is not list:
            if not isinstance(leaves, Iterable):
                raise TreeTypeError(
                    f"unflatten: expected an iterable of {self._num_leaves} leaves, got {leaves!r}; give a list"
                )
            # One more than fits is enough to know, also of an endless iterable.
            leaves = list(islice(leaves, self._num_leaves + 1))
        if len(leaves) != self._num_leaves:
            raise self._wrong_number(leaves)
        return self.maker(leaves)

    @property
    def maker(self) -> Maker:
        """The function that `unflatten` calls: it takes a list of ``num_leaves`` leaves, and looks at nothing.

        Example:
          >>> from lawful import tree
          >>> tree.structure({"a": 0, "b": 0}).maker([1, 2])
          {'a': 1, 'b': 2}
        """
        maker = self._maker
        if maker is None:
            maker = self._maker = maker_of(self)
        return maker

    @property
    def matcher(self) -> Matcher:
        """The function that `match` calls: it may give the children of a node themselves, which are not to be changed.

        Example:
          >>> from lawful import tree
          >>> match = tree.structure({"a": 0, "b": 0}).matcher
          >>> match({"b": 1, "a": 2}), match({"c": 1})
          ((2, 1), None)
        """
        matcher = self._matcher
        if matcher is None:
            matcher = self._matcher = matcher_of(self)
        return matcher

    @property
    def exact_matcher(self) -> Matcher:
        """Like `matcher`, but for trees with the same `exact_key` only."""
        return matcher_of(self, exact=True)

    @property
    def exact_key(self) -> Hashable:
        """The structure's key in caches. Equal structures with keys such as 1 and True have different ones.

        Raises:
          TreeNodeError: auxiliary data has neither a hash nor is it a dict, list or set of what has one.
        """
        key = self._exact_key
        if key is None:
            signature = signature_of(self)
            is_exact = not signature or signature[0] == EXACT
            key = self._exact_key = self if is_exact else _hashed(self, exact_key(tuple(signature), contents_key))
        return key

    __lawful_exact_key__ = exact_key  # read by `exact_key`

    def _wrong_number(self, leaves: Sequence[Any]) -> TreeStructureError:
        if len(leaves) < self._num_leaves:
            number = f"{len(leaves)}, none for the leaf {at(leaf_path(self, len(leaves)), 'the structure')}"
        else:
            number = "more"
        return TreeStructureError(
            f"unflatten: expected {self._num_leaves} leaves for {show(self, open_treedef)}, got {number}; "
            "give one leaf for each * of the structure"
        )

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """Returns the subtrees of a tree that stand where this structure has leaves.

        Raises:
          TreeStructureError: this structure is not a prefix of that of the tree.

        Example:
          >>> from lawful import tree
          >>> tree.structure((0, 0)).flatten_up_to(([1, 2], {"a": 3}))
          [[1, 2], {'a': 3}]
        """
        subtrees = self.match(tree)
        if subtrees is None:
            raise mismatch_error(
                "flatten_up_to",
                expected=("the structure", self, open_treedef),
                got=("the tree", tree, open_tree),
                expected_is_prefix=True,
                advice="give a tree that has this structure as a prefix",
            )
        return subtrees

    def match(self, tree: Any) -> list[Any] | None:
        """Returns what ``flatten_up_to`` returns; None where it would raise an error, at no cost.

        Law: ``flatten(tree)[1] == self`` just where the result is a list of leaves; it is then ``flatten(tree)[0]``,
        in half the time.

        Example:
          >>> from lawful import tree
          >>> treedef = tree.structure((0, {"a": 0}))
          >>> treedef.match((1, {"a": 2})), treedef.match((1, {"b": 2}))
          ([1, 2], None)
        """
        subtrees = self.matcher(tree)
        return None if subtrees is None else list(subtrees)

    def compose(self, inner: PyTreeDef) -> PyTreeDef:
        """Returns this structure with ``inner`` in the place of each leaf.

        Example:
          >>> from lawful import tree
          >>> tree.structure([0, 0]).compose(tree.structure((0, 0)))
          PyTreeDef([(*, *), (*, *)])
        """
        return interned(_compose(self, inner))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not PyTreeDef:
            return NotImplemented
        return _equal(self, other)

    def __hash__(self) -> int:
        number = self._hash
        return _hash(self) if number is None else number

    def __repr__(self) -> str:
        return f"PyTreeDef({_show(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Flat, so that a deep structure pickles too.
        tokens = [token.cls if type(token) is NodeType else token for token in signature_of(self)]
        return _unpickle, (tokens, self._num_leaves)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


LEAF = PyTreeDef(None, None, ())


# These functions recurse directly, not through a C function, so that a level costs one Python frame.


def _compose(outer: PyTreeDef, inner: PyTreeDef) -> PyTreeDef:
    if outer._node_type is None:
        return inner
    return PyTreeDef(outer._node_type, outer._aux, tuple([_compose(subtree, inner) for subtree in outer._subtrees]))


def _show(treedef: PyTreeDef) -> str:
    if treedef._node_type is None:
        return "*"
    return treedef._node_type.show(treedef._aux, [_show(subtree) for subtree in treedef._subtrees])


def _hash(treedef: PyTreeDef) -> int:
    number = treedef._hash
    if number is None:
        nodetype = None if treedef._node_type is None else treedef._node_type.cls
        subtrees = tuple([_hash(subtree) for subtree in treedef._subtrees])
        try:
            number = hash((nodetype, treedef._aux, subtrees))
        except TypeError:  # auxiliary data that has no hash, such as a dict, is told apart by `==` alone, as in JAX
            number = hash((nodetype, subtrees))
        treedef._hash = number
    return number


def _hashed(treedef: PyTreeDef, key: Hashable) -> Hashable:
    """Returns an exact key; raises the error that names the node if it has no hash."""
    try:
        hash(key)
    except TypeError as error:
        for subtree in treedef._subtrees:
            _hashed(subtree, exact_key(tuple(signature_of(subtree)), contents_key))
        name = "a leaf" if treedef._node_type is None else treedef._node_type.cls.__name__
        raise TreeNodeError(
            f"key of a PyTreeDef: expected auxiliary data of {name} that has a hash, or dicts, lists and sets of such, "
            f"got {treedef._aux!r} ({error}); return arrays as children"
        ) from error
    return key


def _equal(treedef: PyTreeDef, other: PyTreeDef) -> bool:
    pairs = [(treedef, other)]
    while pairs:
        one, two = pairs.pop()
        if one is two:
            continue
        if one._node_type is None or two._node_type is None or one._node_type.cls is not two._node_type.cls:
            return False
        if one._num_nodes != two._num_nodes or len(one._subtrees) != len(two._subtrees):
            return False
        if not same_aux(one._aux, two._aux, one._node_type.cls):
            return False
        pairs.extend(zip(one._subtrees, two._subtrees, strict=True))
    return True


# A signature is a treedef as a flat list: for each node, in preorder, the number of leaves before it, its node type,
# and its head (`write_head`). Flattening looks up the treedef by it, so trees of one structure have the same treedef
# object. The first entry, always 0 leaves, is the flag EXACT or INEXACT.

_treedefs: StructureCache[PyTreeDef] = StructureCache()
_find = _treedefs.entries.get


def treedef_of(signature: Signature, num_leaves: int) -> PyTreeDef:
    """Returns the structure with a signature: the cached object, while it is in the cache."""
    if signature[0] != EXACT:
        return _build(signature, 1, 0, num_leaves)[0]
    key = tuple(signature)
    return _find(key) or _insert(key, num_leaves)


def _insert(key: tuple[Any, ...], num_leaves: int) -> PyTreeDef:
    treedef = _build(key, 1, 0, num_leaves)[0]
    size = len(key) + num_leaves
    if size > MAX_TOKENS // 4:
        return treedef
    if size > _treedefs.room:
        _treedefs.clear()
    _treedefs.room -= size
    _treedefs.misses += 1
    return _treedefs.entries.setdefault(key, treedef)


def _build(signature: Sequence[Any], index: int, before: int, num_leaves: int) -> tuple[PyTreeDef, int, int]:
    """Builds the node whose node type is at ``index``, with ``before`` leaves before it.

    Returns:
      The node, the index after its tokens, and the number of leaves up to its end.
    """
    node_type = signature[index]
    aux, length, index = read_head(node_type, signature, index + 1)
    subtrees: list[PyTreeDef] = []
    while len(subtrees) < length:
        next_node = signature[index] if index < len(signature) else num_leaves
        if next_node == before and index < len(signature):
            subtree, index, before = _build(signature, index + 1, before, num_leaves)
            subtrees.append(subtree)
        else:
            run = min(next_node - before, length - len(subtrees))
            subtrees.extend([LEAF] * run)
            before += run
    return PyTreeDef(node_type, aux, tuple(subtrees)), index, before


def signature_of(treedef: PyTreeDef) -> Signature:
    """Returns the signature that flattening a tree of this structure writes; empty for a leaf."""
    signature: Signature = []
    stack = [treedef]
    before = 0
    while stack:
        node = stack.pop()
        if node._node_type is None:
            before += 1
        else:
            signature += (before, node._node_type)
            write_head(node._node_type, node._aux, len(node._subtrees), signature)
            stack.extend(reversed(node._subtrees))
    return signature


def interned(treedef: PyTreeDef) -> PyTreeDef:
    """Returns the cached treedef equal to this one, as flattening returns it."""
    signature = signature_of(treedef)
    return treedef_of(signature, treedef._num_leaves) if signature else LEAF


def _unpickle(tokens: list[Any], num_leaves: int) -> PyTreeDef:
    if not tokens:
        return LEAF
    signature = [node_type_to_unpickle(token) if isinstance(token, type) else token for token in tokens]
    return treedef_of(signature, num_leaves)
