"""Flattening, then unflattening, is the identity; leaves come in one order."""

import dataclasses
import gc
import pickle
import weakref
from collections import OrderedDict, defaultdict, namedtuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import tree

Point = namedtuple("Point", ["x", "y"])


@tree.register_dataclass
@dataclasses.dataclass
class Layer:
    weight: object
    bias: object
    rate: object = tree.static(default=0.5)


class Leaf:
    """Equal to itself only, so that a lost or copied leaf shows."""


# Keys and auxiliary data that are equal and not the same: 1 == True == 1.0, 0.0 == -0.0.
lookalikes = st.sampled_from([0, False, 0.0, -0.0, 1, True, 1.0])
names = st.sampled_from(["a", "b", "c", "d"])


def containers(children):
    return st.one_of(
        st.lists(children, max_size=3),
        st.lists(children, max_size=3).map(tuple),
        st.dictionaries(names, children, max_size=3),
        st.dictionaries(lookalikes, children, max_size=2),
        st.dictionaries(names, children, max_size=3).map(OrderedDict),
        st.dictionaries(names, children, max_size=3).map(lambda d: defaultdict(list, d)),
        st.builds(Point, children, children),
        st.builds(Layer, children, children, lookalikes),
    )


trees = st.recursive(st.one_of(st.builds(Leaf), st.none()), containers, max_leaves=12)


def fingerprint(value):
    """The invariants: types, the order of keys of ordered dicts, keys and aux data to the bit, leaf identity."""
    kind = type(value)
    if kind in (list, tuple, Point):
        return kind, [fingerprint(child) for child in value]
    if kind in (dict, defaultdict):
        items = sorted(value.items(), key=lambda item: item[0])
        factory = value.default_factory if kind is defaultdict else None
        return kind, factory, [(repr(key), fingerprint(child)) for key, child in items]
    if kind is OrderedDict:
        return kind, [(repr(key), fingerprint(child)) for key, child in value.items()]
    if kind is Layer:
        return kind, fingerprint(value.weight), fingerprint(value.bias), repr(value.rate)
    return kind, id(value)


@given(trees)
def test_unflatten_inverts_flatten(value):
    leaves, treedef = tree.flatten(value)
    assert fingerprint(tree.unflatten(treedef, leaves)) == fingerprint(value)


@given(trees, trees)
def test_roundtrip_does_not_depend_on_trees_flattened_before(first, second):
    tree.flatten(first)
    leaves, treedef = tree.flatten(second)
    assert fingerprint(tree.unflatten(treedef, leaves)) == fingerprint(second)


@given(trees)
def test_all_ways_of_flattening_agree(value):
    leaves, treedef = tree.flatten(value)
    paired, treedef_of_paths = tree.flatten_with_path(value)
    leaves_until, treedef_until = tree.flatten(value, is_leaf=lambda _: False)
    expected = [id(leaf) for leaf in leaves]
    assert treedef.num_leaves == len(leaves)
    assert [id(leaf) for _, leaf in paired] == expected
    assert [id(leaf) for leaf in leaves_until] == expected
    assert [id(leaf) for leaf in tree.leaves(value)] == expected
    assert [id(leaf) for leaf in treedef.flatten_up_to(value)] == expected
    assert treedef == treedef_of_paths == treedef_until == tree.structure(value)
    assert hash(treedef) == hash(treedef_of_paths) == hash(treedef_until)


@given(trees)
def test_structure_of_the_unflattened_tree_is_the_same(value):
    treedef = tree.structure(value)
    assert tree.structure(treedef.unflatten(range(treedef.num_leaves))) == treedef
    assert tree.leaves(treedef.unflatten(range(treedef.num_leaves))) == list(range(treedef.num_leaves))


def test_flatten_leaves_come_in_documented_order():
    value = {"b": [1, (2, None, 3)], "a": OrderedDict(z=4, y=5), "c": defaultdict(int, q=6, p=7), "d": Point(8, 9)}
    assert tree.leaves(value) == [4, 5, 1, 2, 3, 7, 6, 8, 9]


def test_unflattened_dict_has_sorted_keys():
    assert list(tree.map(lambda x: x, {"b": 1, "a": 2})) == ["a", "b"]


@pytest.mark.parametrize("value", [1, "ab", 2.5, {1, 2}, object(), type("L", (list,), {})([1])])
def test_flatten_every_other_type_is_a_leaf(value):
    leaves, treedef = tree.flatten(value)
    assert len(leaves) == 1
    assert leaves[0] is value
    assert repr(treedef) == "PyTreeDef(*)"
    assert treedef.unflatten([3]) == 3


@pytest.mark.parametrize("base", [list, dict, tuple, OrderedDict])
def test_flatten_subclass_of_a_container_is_a_leaf(base):
    value = type("Sub", (base,), {})()
    assert tree.leaves([value]) == [value]


def test_flatten_namedtuple_with_own_iter():
    """A namedtuple subclass with its own `__iter__` keeps its fields."""

    class Reversed(Point):
        def __iter__(self):
            return reversed(tuple.__getitem__(self, slice(None)))

    leaves, treedef = tree.flatten([Reversed(1, 2)])
    assert leaves == [1, 2]
    (again,) = treedef.unflatten([3, 4])
    assert (again.x, again.y) == (3, 4)
    assert [tree.keystr(path) for path, _ in tree.leaves_with_path(Reversed(1, 2))] == [".x", ".y"]


def test_flatten_is_leaf_stops_at_subtrees_from_the_root_down():
    seen = []

    def is_leaf(subtree):
        seen.append(subtree)
        return subtree == (2, 3)

    leaves, treedef = tree.flatten([1, (2, 3), {"a": None}], is_leaf)
    assert leaves == [1, (2, 3)]
    assert repr(treedef) == "PyTreeDef([*, *, {'a': None}])"
    assert seen == [[1, (2, 3), {"a": None}], 1, (2, 3), {"a": None}, None]


def test_flatten_is_leaf_can_make_none_a_leaf_and_the_root_too():
    assert tree.leaves([None, 1], is_leaf=lambda x: x is None) == [None, 1]
    assert tree.leaves([None, 1], is_leaf=lambda x: True) == [[None, 1]]


def test_unflatten_takes_any_iterable():
    treedef = tree.structure([0, (0, 0)])
    for leaves in ("abc", ["a", "b", "c"], iter("abc"), dict.fromkeys("abc")):
        assert tree.unflatten(treedef, leaves) == ["a", ("b", "c")]


def test_unflattened_containers_are_new():
    value = [1, [2]]
    leaves, treedef = tree.flatten(value)
    again = treedef.unflatten(leaves)
    again[1].append(3)
    assert value == [1, [2]]
    assert treedef.unflatten(leaves) == [1, [2]]


@pytest.mark.parametrize(
    "wrap", [lambda x: [x], lambda x: (x, 0), lambda x: {"a": x}, lambda x: Point(x, 1), lambda x: Layer(x, 1)]
)
def test_flatten_five_hundred_levels_are_no_problem(wrap):
    value = 7.0
    for _ in range(500):
        value = wrap(value)
    leaves, treedef = tree.flatten(value)
    assert leaves[0] == 7.0
    assert tree.structure(treedef.unflatten(leaves)) == treedef
    assert tree.structure(value, is_leaf=lambda x: False) is treedef
    assert tree.leaves(tree.map(lambda x, y: x + y, value, value))[0] == 14.0
    assert len(tree.leaves_with_path(value)[0][0]) == 500
    # Rebuilt without the table of structures: hash, comparison, text, pickle.
    deep = treedef.compose(tree.structure(Local("a")))
    other = treedef.compose(tree.structure(Local("a")))
    assert deep is not other
    assert deep == other
    assert hash(deep) == hash(other)
    assert repr(deep) == repr(other)
    assert pickle.loads(pickle.dumps(treedef)) is treedef
    assert treedef.compose(tree.structure((0, 0))).num_leaves == 2 * len(leaves)


@tree.register_static
class Local(str):
    """A type whose equality is the user's, so that structures with a value of it are not shared."""


def test_treedef_cache_is_bounded():
    """The cache of treedefs is bounded, and equality of treedefs does not depend on it."""
    from lawful.tree._structure import treedef as _treedef

    first = tree.structure([{"first": 0}, 1])
    for length in range(700):
        tree.structure([0] * length + [(0,)])
    assert sum(len(key) + treedef.num_leaves for key, treedef in _treedef._treedefs.entries.items()) <= 200_000
    second = tree.structure([{"first": 0}, 1])
    assert first is not second
    assert first == second
    assert hash(first) == hash(second)


@pytest.mark.frees
def test_flatten_types_made_at_run_time_are_not_kept_for_ever():
    from lawful.tree._nodes.registry import NODE_TYPES

    references = []
    for index in range(2500):
        cls = namedtuple(f"Made{index}", "x") if index % 2 else type(f"Made{index}", (), {})
        assert tree.leaves([cls(*[3] * (index % 2))])[0] is not None
        references.append(weakref.ref(cls))
        del cls
    assert len(NODE_TYPES) < 1200
    for index in range(1100):  # push the last ones out
        tree.leaves(type(f"More{index}", (), {})())
    from lawful.tree._structure import treedef as _treedef

    _treedef._treedefs.clear()
    gc.collect()
    assert sum(reference() is not None for reference in references) == 0


def test_flatten_wide_tree_is_kept_out_of_the_table():
    from lawful.tree._structure import treedef as _treedef

    wide = [list(range(30)) for _ in range(10_000)]
    leaves, treedef = tree.flatten(wide)
    assert leaves == [leaf for row in wide for leaf in row]
    assert treedef == tree.structure(wide)
    assert not any(kept is treedef for kept in _treedef._treedefs.entries.values())
    assert treedef.unflatten(leaves) == wide
    assert treedef.num_nodes == 310_001
