"""Functions of whole trees."""

import operator
from collections import OrderedDict, namedtuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import tree
from lawful.tree.base import ArgumentValueError, TreeStructureError, TreeTypeError

Point = namedtuple("Point", ["x", "y"])

int_trees = st.recursive(
    st.one_of(st.integers(-9, 9), st.none()),
    lambda children: st.one_of(
        st.lists(children, max_size=3),
        st.lists(children, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("abc"), children, max_size=3),
        st.builds(Point, children, children),
    ),
    max_leaves=10,
)


@given(int_trees)
def test_map_is_a_functor(value):
    assert tree.map(lambda x: x, value) == value
    composed = tree.map(lambda x: 2 * x + 1, value)
    assert composed == tree.map(lambda x: x + 1, tree.map(lambda x: 2 * x, value))
    assert tree.structure(composed) == tree.structure(value)


@given(int_trees)
def test_map_of_several_trees_is_row_by_row(value):
    doubled, strings = tree.map(lambda x: 2 * x, value), tree.map(str, value)
    assert tree.leaves(tree.map(lambda *row: str(row), value, doubled, strings)) == [
        str((x, 2 * x, str(x))) for x in tree.leaves(value)
    ]


def test_map_passes_subtrees_at_leaves_of_first_tree():
    """Where the first tree has a leaf, the others give their subtrees."""
    assert tree.map(lambda x, y: (x, y), {"a": 1, "b": (2,)}, {"b": ([3, None],), "a": None}) == {
        "a": (1, None),
        "b": ((2, [3, None]),),
    }


def test_map_does_not_flatten_what_stands_below_a_leaf():
    assert tree.map(lambda _, y: len(y), {"a": 1}, {"a": {1: 0, "unsortable": 0}}) == {"a": 2}


def test_map_passes_a_stop_iteration_on():
    def stop(x):
        raise StopIteration(x)

    with pytest.raises(StopIteration):
        tree.map(stop, [1, 2])


def test_map_with_is_leaf():
    assert tree.map(lambda x, y: [*x, y], [(1, 2), (3,)], [3, 4], is_leaf=lambda x: isinstance(x, tuple)) == [
        [1, 2, 3],
        [3, 4],
    ]


@given(st.lists(st.integers()), st.integers())
def test_reduce_is_functools_reduce(items, start):
    value = {"a": items[::2], "b": tuple(items[1::2])}
    leaves = items[::2] + items[1::2]
    assert tree.reduce(lambda total, x: [*total, x], value, []) == leaves
    assert tree.reduce(operator.sub, value, start) == start - sum(leaves)
    assert tree.reduce_associative(operator.add, value, identity=0) == sum(leaves)
    assert tree.reduce_associative(operator.add, [(x,) for x in items], identity=(), is_leaf=is_tuple) == tuple(items)


def is_tuple(value):
    return isinstance(value, tuple)


def test_reduce_initializer_none_and_is_leaf():
    """None is an initializer like any other; `is_leaf` decides what a leaf is."""
    assert tree.reduce(lambda total, x: (total, x), [1], None) == (None, 1)
    assert tree.reduce(lambda total, x: total + len(x), [(1, 2), (3,)], 0, is_leaf=is_tuple) == 3
    assert tree.reduce(operator.sub, [9, 2, 3]) == 4


def test_reduce_associative_is_balanced():
    depth = tree.reduce_associative(lambda x, y: 1 + max(x, y), [0] * 1024)
    assert depth == 10


def test_reduce_of_nothing_is_refused():
    with pytest.raises(TreeTypeError, match=r"reduce: expected a tree with leaves, .*; give an initializer"):
        tree.reduce(operator.add, [None, ()])
    with pytest.raises(TreeTypeError, match=r"reduce_associative: expected a tree with leaves, .*; give an identity"):
        tree.reduce_associative(operator.add, {})
    assert tree.reduce_associative(operator.add, {}, identity=None) is None


def test_all():
    assert tree.all({})
    assert tree.all([1, (True, "x")])
    assert not tree.all([1, (True, "")])
    assert tree.all([(0,)], is_leaf=is_tuple)


@given(st.integers(0, 3), st.integers(0, 3))
def test_transpose_twice_is_the_identity(rows, columns):
    outer, inner = tree.structure({"r": [0] * rows}), tree.structure((0,) * columns)
    value = {"r": [tuple((r, c)[1] + 10 * r for c in range(columns)) for r in range(rows)]}
    turned = tree.transpose(outer, inner, value)
    assert turned == tuple({"r": [10 * r + c for r in range(rows)]} for c in range(columns))
    assert tree.transpose(inner, outer, turned) == value


def test_transpose_takes_the_inner_structure_from_the_first_leaf():
    assert tree.transpose(tree.structure([0, 0]), None, [{"a": 1, "b": (2,)}, {"a": 3, "b": (4,)}]) == {
        "a": [1, 3],
        "b": ([2, 4],),
    }
    with pytest.raises(
        ArgumentValueError, match=r"transpose: .*PyTreeDef\(\[\]\), which has no leaves.*give inner_tree"
    ):
        tree.transpose(tree.structure([]), None, [])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([(1, 2), 3], r"expected a tuple of length 2 at key path \[1\] of pytree_to_transpose, got a leaf of type int"),
        ([[1, 2], [3, 4]], r"expected a tuple of length 2 at key path \[0\] of .*, got a list of length 2"),
        ([(1, 2), (3, [4])], r"expected a leaf at key path \[1\]\[1\] of pytree_to_transpose, got a list of length 1"),
        (OrderedDict(a=(1, 2)), r"expected a list of length 2 at the root of .*, got an OrderedDict with keys 'a'"),
    ],
)
def test_transpose_names_where_the_tree_differs(value, expected):
    with pytest.raises(TreeStructureError, match=r"transpose: " + expected) as caught:
        tree.transpose(tree.structure([0, 0]), tree.structure((0, 0)), value)
    assert "outer.compose(inner): PyTreeDef([(*, *), (*, *)])" in str(caught.value)
    assert f"pytree_to_transpose:  {tree.structure(value)}" in str(caught.value)


def test_transpose_refuses_trees_as_structures():
    with pytest.raises(TreeTypeError, match=r"expected a PyTreeDef as outer_treedef, got a list"):
        tree.transpose([0], None, [(1,)])
    with pytest.raises(TreeTypeError, match=r"expected a PyTreeDef as inner_treedef, got a tuple"):
        tree.transpose(tree.structure([0]), (0,), [(1,)])
