"""A mismatch of structures names the key path, both structures, and which argument."""

import dataclasses
from collections import OrderedDict, defaultdict, namedtuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import tree
from lawful.tree.base import LawfulError, TreeStructureError, TreeTypeError

Point = namedtuple("Point", ["x", "y"])


@tree.register_dataclass
@dataclasses.dataclass
class Layer:
    weight: object
    name: str = tree.static(default="linear")


class Keyed:
    def __init__(self, part, label="k"):
        self.part, self.label = part, label


tree.register_node_with_keys(
    Keyed,
    lambda node: ([(tree.GetAttrKey("part"), node.part)], node.label),
    lambda label, parts: Keyed(*parts, label),
)


# The first tree, the second, what was expected and where, what was got.
MISMATCHES = [
    ((1, 2), [1, 2], "a tuple of length 2 at the root of rest[0]", "a list of length 2"),
    ((1, 2), Point(1, 2), "a tuple of length 2 at the root of rest[0]", "a namedtuple Point(x, y)"),
    ([Point(1, 2)], [(1, 2)], "a namedtuple Point(x, y) at key path [0] of rest[0]", "a tuple of length 2"),
    ({"a": [0, (1, 2)]}, {"a": [0, (1,)]}, "a tuple of length 2 at key path ['a'][1]", "a tuple of length 1"),
    ({"a": ()}, {"a": (1,)}, "an empty tuple at key path ['a']", "a tuple of length 1"),
    ((0, [1]), (0, 2.5), "a list of length 1 at key path [1]", "a leaf of type float"),
    ((0, None), (0, 2), "None at key path [1]", "a leaf of type int"),
    ({"a": 1, "b": 2}, {"b": 3, "c": 4}, "a dict with keys 'a', 'b'", "'b', 'c' (missing 'a'; extra 'c')"),
    ({"a": 1}, {}, "a dict with keys 'a'", "an empty dict (missing 'a')"),
    ({}, {"a": 1}, "an empty dict", "a dict with keys 'a' (extra 'a')"),
    ({"a": 1}, OrderedDict(a=1), "a dict with keys 'a'", "an OrderedDict with keys 'a' in this order"),
    (OrderedDict(a=1, b=2), OrderedDict(b=1, a=2), "keys 'a', 'b' in this order", "keys 'b', 'a' in this order"),
    (OrderedDict(a=1), OrderedDict(b=1), "keys 'a' in this order", "keys 'b' in this order (missing 'a'; extra 'b')"),
    (defaultdict(list, a=1), defaultdict(int, a=1), "defaultdict of <class 'list'>", "defaultdict of <class 'int'>"),
    ([Layer(1)], [Layer(1, "conv")], "a Layer with name = 'linear' at key path [0]", "a Layer with name = 'conv'"),
    (Layer((1, 2)), Layer((1,)), "a tuple of length 2 at key path .weight of rest[0]", "a tuple of length 1"),
    (Keyed([1]), Keyed((1,)), "a list of length 1 at key path .part of rest[0]", "a tuple of length 1"),
    (Keyed(1), Keyed(1, "z"), "a Keyed with 1 child and auxiliary data 'k'", "a Keyed with 1 child and auxiliary"),
]


@pytest.mark.parametrize(("first", "second", "expected", "got"), MISMATCHES)
def test_map_says_what_differs_and_where(first, second, expected, got):
    with pytest.raises(TreeStructureError) as caught:
        tree.map(lambda *row: row, first, second)
    text = str(caught.value)
    summary = text.splitlines()[0]
    assert "map: expected " in summary
    assert expected in summary
    assert got in summary.split(", got ")[1]
    assert "; give rest[0] (tree 2 of 2) the structure of the first tree" in summary
    assert f"  tree:    {tree.structure(first)}" in text
    assert f"  rest[0]: {tree.structure(second)}" in text


@pytest.mark.parametrize(("first", "second", "expected", "got"), MISMATCHES)
def test_flatten_up_to_says_the_same(first, second, expected, got):
    with pytest.raises(TreeStructureError) as caught:
        tree.structure(first).flatten_up_to(second)
    text = str(caught.value)
    assert "flatten_up_to: expected " in text
    assert expected.replace("rest[0]", "the tree") in text
    assert got in text
    assert str(tree.structure(first)) in text
    assert str(tree.structure(second)) in text


def test_map_error_is_value_error_with_users_line():
    """The error is a ValueError and begins with the source line of the user."""
    with pytest.raises(ValueError, match=r"test_structure_mismatch\.py:\d+ \(test_map_error_is\w+\): map: ") as caught:
        tree.map(lambda *row: row, (1, 2), [1, 2])
    assert isinstance(caught.value, LawfulError)


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_map_names_the_tree_that_differs(wrong):
    rest = [[1, 2], [1, 2], [1, 2]]
    rest[wrong] = [1]
    with pytest.raises(TreeStructureError) as caught:
        tree.map(lambda *row: row, [0, 0], *rest)
    assert f"at the root of rest[{wrong}], got a list of length 1; give rest[{wrong}] (tree {wrong + 2} of 4)" in str(
        caught.value
    )


def test_map_with_is_leaf_compares_down_to_its_leaves():
    with pytest.raises(TreeStructureError, match=r"expected a tuple of length 2 at the root of rest\[0\]") as caught:
        tree.map(lambda *row: row, ([1], [2, 3]), ([1],), is_leaf=lambda x: isinstance(x, list))
    assert "tree:    PyTreeDef((*, *))" in str(caught.value)


def test_the_error_shows_a_tree_that_does_not_flatten_below():
    with pytest.raises(TreeStructureError, match=r"expected a tuple of length 2 .*, got a list of length 1") as caught:
        tree.map(lambda *row: row, (1, 2), [{1: 0, "unsortable": 0}])
    assert "a tree that does not flatten (TreeTypeError: " in str(caught.value)


def test_mismatch_long_structures_are_shortened():
    with pytest.raises(TreeStructureError) as caught:
        tree.map(lambda *row: row, [0] * 10_000, [0] * 9_999)
    assert "expected a list of length 10000 at the root of rest[0], got a list of length 9999" in str(caught.value)
    assert len(str(caught.value)) < 3_000
    with pytest.raises(TreeStructureError) as caught:
        tree.map(lambda *row: row, dict.fromkeys(range(10_000), 0), {})
    assert "a dict with keys 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … 9988 more" in str(caught.value)
    assert len(str(caught.value)) < 3_000


@pytest.mark.parametrize(
    ("leaves", "number"),
    [
        ([], r"got 0, none for the leaf at key path \['a'\]\[0\] of the structure"),
        ([1], r"got 1, none for the leaf at key path \['a'\]\[1\] of the structure"),
        ((1, 2), r"got 2, none for the leaf at key path \['b'\]\.y of the structure"),
        ([1, 2, 3, 4], "got more"),
        (iter(range(10**12)), "got more"),
    ],
)
def test_unflatten_names_the_first_leaf_without_a_value(leaves, number):
    treedef = tree.structure({"a": (1, 2), "b": Point(None, 3)})
    with pytest.raises(
        TreeStructureError, match=rf"unflatten: expected 3 leaves for .*, {number}; give one leaf"
    ) as caught:
        tree.unflatten(treedef, leaves)
    assert str(treedef) in str(caught.value)


def test_unflatten_refuses_what_is_not_a_structure_or_not_leaves():
    with pytest.raises(TreeTypeError, match=r"unflatten: expected a PyTreeDef as treedef, got a list; take the struct"):
        tree.unflatten([1], tree.structure([1]))
    with pytest.raises(TreeTypeError, match=r"unflatten: expected an iterable of 1 leaves, got 3; give a list"):
        tree.unflatten(tree.structure([1]), 3)


def test_map_refuses_swapped_arguments():
    with pytest.raises(TreeTypeError, match=r"map: expected a function as f, got a list; give the function first"):
        tree.map([1, 2], lambda x: x)


trees = st.recursive(
    st.one_of(st.integers(0, 9), st.none()),
    lambda children: st.one_of(
        st.lists(children, max_size=3),
        st.lists(children, max_size=2).map(tuple),
        st.dictionaries(st.sampled_from("abc"), children, max_size=2),
        st.builds(Point, children, children),
        st.builds(Keyed, children, st.sampled_from("kz")),
    ),
    max_leaves=8,
)


@given(trees, trees)
def test_flatten_up_to_succeeds_only_for_prefixes(first, second):
    """`flatten_up_to` succeeds for prefixes alone; otherwise the error shows both structures."""
    treedef, leaves = tree.structure(first), None
    try:
        leaves = treedef.flatten_up_to(second)
    except TreeStructureError as error:
        text = str(error)
        assert str(treedef) in text
        assert str(tree.structure(second)) in text
    assert treedef.match(second) == leaves
    if leaves is not None:
        assert tree.structure(treedef.unflatten(leaves)) == tree.structure(second)
    if treedef == tree.structure(second):
        assert leaves == tree.leaves(second)
