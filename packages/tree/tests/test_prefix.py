"""Prefixes of trees."""

from collections import namedtuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import tree
from lawful.tree.base import TreeStructureError, TreeTypeError

Point = namedtuple("Point", ["x", "y"])

full_trees = st.recursive(
    st.one_of(st.integers(0, 9), st.none()),
    lambda children: st.one_of(
        st.lists(children, max_size=3),
        st.lists(children, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("abc"), children, max_size=3),
        st.builds(Point, children, children),
    ),
    max_leaves=10,
)


def is_none(value):
    return value is None


@st.composite
def prefixes(draw):
    """A full tree, and the same with some subtrees replaced by a leaf: a string, or None."""
    full = draw(full_trees)

    def cut(value):
        if type(value) not in (list, tuple, dict, Point) or draw(st.integers(0, 3)) == 0:
            return draw(st.sampled_from(["p", "q", None])) if value is not None else None
        if type(value) is dict:
            return {key: cut(child) for key, child in value.items()}
        return Point(*map(cut, value)) if type(value) is Point else type(value)(map(cut, value))

    return cut(full), full


def expected_leaves(prefix, full):
    if type(prefix) not in (list, tuple, dict, Point):
        return [prefix] * len(tree.leaves(full))
    if type(prefix) is dict:
        pairs = [(prefix[key], full[key]) for key in sorted(prefix)]
    else:
        pairs = zip(prefix, full, strict=True)
    return [leaf for pair in pairs for leaf in expected_leaves(*pair)]


@given(prefixes())
def test_broadcast_prefix_each_leaf_is_repeated_for_its_subtree(pair):
    prefix, full = pair
    expected = expected_leaves(prefix, full)
    assert tree.broadcast_prefix(prefix, full, is_leaf=is_none) == expected
    assert tree.flatten_axes("in_axes", tree.structure(full), prefix) == expected
    assert tree.broadcast(prefix, full, is_leaf=is_none) == tree.unflatten(tree.structure(full), expected)


@given(full_trees)
def test_a_tree_is_a_prefix_of_itself_and_a_leaf_of_everything(full):
    assert tree.broadcast_prefix(full, full) == tree.leaves(full)
    assert tree.broadcast_prefix(7, full) == [7] * len(tree.leaves(full))
    assert tree.broadcast(full, full) == full


def test_broadcast_prefix_none_is_a_container_by_default():
    assert tree.broadcast_prefix((1, None), (0, None)) == [1]
    with pytest.raises(TreeStructureError, match=r"expected a leaf at key path \[1\] of prefix_tree, got None"):
        tree.broadcast_prefix((1, None), (0, 0))
    assert tree.broadcast_prefix((1, None), (0, [0, 0]), is_leaf=is_none) == [1, None, None]


def test_is_leaf_is_asked_about_the_prefix_only():
    assert tree.broadcast_prefix([1, (2,)], [0, ((0, 0),)], is_leaf=lambda x: x == (2,)) == [1, (2,), (2,)]


@pytest.mark.parametrize(
    ("prefix", "full", "text"),
    [
        ((1, 2), (0, 0, 0), "a tuple of length 3, or a leaf for all of it, at the root of prefix_tree, got a tuple of"),
        ([1, 2], (0, 0), "a tuple of length 2, or a leaf for all of it, at the root of prefix_tree, got a list of len"),
        ({"a": (1, [2])}, {"a": (0, 0)}, "a leaf at key path ['a'][1] of prefix_tree, got a list of length 1"),
        ({"a": 1}, {"a": 0, "b": 0}, "got a dict with keys 'a' (missing 'b')"),
        ({"a": 1, "c": 1}, {"a": 0, "b": 0}, "got a dict with keys 'a', 'c' (missing 'b'; extra 'c')"),
        ([Point(1, 2)], [(0, 0)], "at key path [0] of prefix_tree, got a namedtuple Point(x, y)"),
    ],
)
def test_what_is_not_a_prefix_is_explained(prefix, full, text):
    for function in (tree.broadcast_prefix, tree.broadcast):
        with pytest.raises(TreeStructureError) as caught:
            function(prefix, full)
        assert "broadcast_prefix: expected " in str(caught.value)
        assert text in str(caught.value)
        assert f"full_tree:   {tree.structure(full)}" in str(caught.value)
        assert f"prefix_tree: {tree.structure(prefix)}" in str(caught.value)
    with pytest.raises(TreeStructureError) as caught:
        tree.flatten_axes("vmap in_axes", tree.structure(full), prefix)
    assert "vmap in_axes: expected " in str(caught.value)
    assert text.replace("prefix_tree", "the prefix") in str(caught.value)


def test_flatten_axes_refuses_a_tree_as_structure():
    with pytest.raises(TreeTypeError, match=r"vmap in_axes: expected a PyTreeDef as treedef, got a tuple"):
        tree.flatten_axes("vmap in_axes", (0, 0), 1)
