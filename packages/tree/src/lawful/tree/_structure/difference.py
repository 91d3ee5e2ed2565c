"""The first difference of two structures, and its error message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lawful.tree._nodes.key import DictKey, KeyEntry, KeyPath, keystr
from lawful.tree._nodes.node_type import NodeType, same_aux, show_keys
from lawful.tree._nodes.registry import node_type_of
from lawful.tree.base.errors import TreeStructureError
from lawful.tree.base.record import record

if TYPE_CHECKING:
    from lawful.tree._structure.treedef import PyTreeDef

_MAX_TEXT = 1000


@record
class Node:
    """The root of a tree or of a structure, opened; ``node_type`` is None for a leaf."""

    node_type: NodeType | None
    aux: Any
    keys: Sequence[KeyEntry]
    children: Sequence[Any]
    leaf: str

    def describe(self) -> str:
        return self.leaf if self.node_type is None else self.node_type.describe(self.aux, len(self.children))


# Opens one level of a tree or a structure.
type Open = Callable[[Any], Node]


def open_tree(tree: Any) -> Node:
    node_type = node_type_of(type(tree))
    if node_type is None:
        return Node(None, None, (), (), f"a leaf of type {type(tree).__name__}")
    keys, children, aux = node_type.open_with_keys(tree)
    return Node(node_type, aux, keys, children, "")


def open_treedef(treedef: PyTreeDef) -> Node:
    node_type = treedef._node_type
    if node_type is None:
        return Node(None, None, (), (), "a leaf")
    return Node(node_type, treedef._aux, node_type.keys(treedef._aux, len(treedef._subtrees)), treedef._subtrees, "")


@record
class Difference:
    """A key path at which two structures differ, and the node of each at this path."""

    path: KeyPath
    one: Node
    two: Node

    def swapped(self) -> Difference:
        return Difference(self.path, self.two, self.one)

    def keys(self) -> str:
        """Returns, as text, the keys that only one of two dicts has: those of ``one`` are missing in ``two``."""
        if not all(isinstance(key, DictKey) for key in (*self.one.keys, *self.two.keys)):
            return ""
        ones, twos = [key.key for key in self.one.keys], [key.key for key in self.two.keys]
        in_one, in_two = set(ones), set(twos)
        missing, extra = [key for key in ones if key not in in_two], [key for key in twos if key not in in_one]
        parts = [f"{word} {show_keys(keys)}" for word, keys in (("missing", missing), ("extra", extra)) if keys]
        return f" ({'; '.join(parts)})" if parts else ""


def first_difference(one: Any, open_one: Open, two: Any, open_two: Open, *, prefix: bool) -> Difference | None:
    """Returns where two structures first differ, in the order of their leaves, or None.

    Args:
      one: a tree or a structure.
      open_one: takes ``one`` apart.
      two: a tree or a structure.
      open_two: takes ``two`` apart.
      prefix: a leaf of ``one`` may stand for any subtree of ``two``.
    """
    return _difference(one, open_one, two, open_two, prefix, ())


def _difference(one: Any, open_one: Open, two: Any, open_two: Open, prefix: bool, path: KeyPath) -> Difference | None:
    first = open_one(one)
    if first.node_type is None and prefix:
        return None
    second = open_two(two)
    if first.node_type is None and second.node_type is None:
        return None
    if (
        first.node_type is None
        or second.node_type is None
        or first.node_type.cls is not second.node_type.cls
        or len(first.children) != len(second.children)
        or not same_aux(first.aux, second.aux, first.node_type.cls)
    ):
        return Difference(path, first, second)
    # The keys of a registered function come from nodes, which a structure does not hold.
    keys = first.keys if first.node_type.keyed is None or open_two is open_treedef else second.keys
    for key, child_one, child_two in zip(keys, first.children, second.children, strict=True):
        found = _difference(child_one, open_one, child_two, open_two, prefix, (*path, key))
        if found is not None:
            return found
    return None


def shorten(text: str) -> str:
    """Returns a text with its middle left out if it is long."""
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT // 2]} … {text[-_MAX_TEXT // 2 :]}"


def show(tree: Any, open_node: Open) -> str:
    """Returns the structure of a tree, or a structure, printed like a treedef and shortened."""
    try:
        return shorten(f"PyTreeDef({_show(tree, open_node)})")
    except Exception as error:  # the text belongs to another error, and a user's flatten function may raise anything
        return f"a tree that does not flatten ({type(error).__name__}: {error})"


def _show(tree: Any, open_node: Open) -> str:
    node = open_node(tree)
    if node.node_type is None:
        return "*"
    return node.node_type.show(node.aux, [_show(child, open_node) for child in node.children])


def at(path: KeyPath, name: str) -> str:
    """Returns the expression for a path in the argument ``name``."""
    return f"at key path {keystr(path)} of {name}" if path else f"at the root of {name}"


def mismatch_error(
    where: str,
    *,
    expected: tuple[str, Any, Open],
    got: tuple[str, Any, Open],
    advice: str,
    got_is_prefix: bool = False,
    expected_is_prefix: bool = False,
) -> TreeStructureError:
    """Returns the error for two structures that differ.

    Args:
      where: the function that was called.
      expected: the name, the tree or structure that is right, and what opens it.
      got: the same of the one that is wrong.
      advice: what to do.
      got_is_prefix: a leaf of the wrong one may stand for a subtree.
      expected_is_prefix: a leaf of the right one may stand for a subtree.
    """
    (expected_name, right, open_right), (got_name, wrong, open_wrong) = expected, got
    if got_is_prefix:
        found = first_difference(wrong, open_wrong, right, open_right, prefix=True)
        difference = None if found is None else found.swapped()
    else:
        difference = first_difference(right, open_right, wrong, open_wrong, prefix=expected_is_prefix)
    assert difference is not None, "the structures do not differ"
    text = difference.one.describe()
    if got_is_prefix:
        text = "a leaf" if difference.one.node_type is None else f"{text}, or a leaf for all of it,"
    width = max(len(expected_name), len(got_name)) + 1
    return TreeStructureError(
        f"{where}: expected {text} {at(difference.path, got_name)}, "
        f"got {difference.two.describe()}{difference.keys()}; {advice}\n"
        f"  {expected_name + ':':{width}} {show(right, open_right)}\n"
        f"  {got_name + ':':{width}} {show(wrong, open_wrong)}"
    )


def leaf_path(treedef: PyTreeDef, index: int) -> KeyPath:
    """Returns the key path of the leaf with an index."""
    path: list[KeyEntry] = []
    while treedef._node_type is not None:
        for key, subtree in zip(open_treedef(treedef).keys, treedef._subtrees, strict=True):
            if index < subtree.num_leaves:
                path.append(key)
                treedef = subtree
                break
            index -= subtree.num_leaves
    return tuple(path)
