"""Structures: what they print, when they are equal, what they are made of."""

import copy
import dataclasses
import gc
import pickle
import weakref
from collections import OrderedDict, defaultdict, namedtuple

import numpy as np
import pytest

from lawful import tree
from lawful.tree.base import TreeTypeError

Point = namedtuple("Point", ["x", "y"])


class Box:
    def __init__(self, content, label):
        self.content, self.label = content, label


tree.register_node(Box, lambda box: ((box.content,), box.label), lambda label, children: Box(*children, label))


@tree.register_dataclass
@dataclasses.dataclass(frozen=True)
class Layer:
    weight: object
    name: str = tree.static(default="linear")


@tree.register_static
class Mode(str):
    pass


PRINTED = [
    (1, "*", 1, 1),
    (None, "None", 0, 1),
    ((), "()", 0, 1),
    ((1,), "(*,)", 1, 2),
    ([1, (2,)], "[*, (*,)]", 2, 4),
    ({}, "{}", 0, 1),
    ({"b": 1, "a": [None]}, "{'a': [None], 'b': *}", 1, 4),
    (Point(1, 2), "CustomNode(namedtuple[Point], [*, *])", 2, 3),
    (OrderedDict(b=1, a=2), "CustomNode(OrderedDict[('b', 'a')], [*, *])", 2, 3),
    (defaultdict(list, b=1, a=2), "CustomNode(defaultdict[(<class 'list'>, ('a', 'b'))], [*, *])", 2, 3),
    (Box(1, "x"), "CustomNode(Box[x], [*])", 1, 2),
    (Layer(1), "CustomNode(Layer[('linear',)], [*])", 1, 2),
    ((Mode("m"), 1), "(CustomNode(Mode[m], []), *)", 1, 3),
    (tree.Partial(max, 1, key=2), "CustomNode(Partial[<built-in function max>], [(*,), {'key': *}])", 2, 5),
]


@pytest.mark.parametrize(("value", "text", "num_leaves", "num_nodes"), PRINTED)
def test_treedef_printing_and_counts(value, text, num_leaves, num_nodes):
    treedef = tree.structure(value)
    assert str(treedef) == f"PyTreeDef({text})"
    assert (treedef.num_leaves, treedef.num_nodes) == (num_leaves, num_nodes)


@pytest.mark.parametrize("index", range(len(PRINTED)))
def test_treedef_equal_to_its_like_only(index):
    treedef = tree.structure(PRINTED[index][0])
    for other, (value, *_) in enumerate(PRINTED):
        assert (treedef == tree.structure(value)) == (other == index)
        assert (treedef != tree.structure(value)) == (other != index)
    assert hash(treedef) == hash(tree.structure(PRINTED[index][0]))
    assert treedef != str(treedef)


@pytest.mark.parametrize("value", [value for value, *_ in PRINTED])
def test_treedef_pickles(value):
    treedef = tree.structure([value, (value,)])
    again = pickle.loads(pickle.dumps(treedef))
    assert again == treedef
    assert str(again) == str(treedef)
    assert copy.copy(treedef) is copy.deepcopy(treedef) is treedef


def test_treedef_unpickling_type_that_is_not_registered_says_so(monkeypatch):
    from lawful.tree._nodes import registry as _registry

    pickled = pickle.dumps(tree.structure(Box(1, "x")))
    monkeypatch.delitem(_registry._registered, Box)
    monkeypatch.delitem(_registry.NODE_TYPES, Box)
    with pytest.raises(TreeTypeError, match=r"unpickling a PyTreeDef: expected Box of module .* register it before"):
        pickle.loads(pickled)


@pytest.mark.parametrize(
    "make",
    [
        lambda: 1,
        lambda: (1, 2, 3),
        lambda: ((1.0, "s", 3), {}),
        lambda: {"a": [1], "b": None},
        lambda: {3: 1, 5: 2},
        lambda: Point(1, OrderedDict(b=1, a=2)),
        lambda: defaultdict(list, a=1),
        lambda: [Layer(1, "dense"), Layer(2, "dense")],
        lambda: Box(1, ("x", 2, True, 0.5, None, int)),
    ],
)
def test_equal_structures_of_plain_data_are_one_object(make):
    assert tree.structure(make()) is tree.structure(make())
    assert tree.structure(make(), is_leaf=lambda _: False) is tree.structure(make())
    assert tree.flatten_with_path(make())[1] is tree.structure(make())
    assert tree.treedef_tuple([tree.structure(make())]) is tree.structure((make(),))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({1: 0}, {True: 0}),
        (Box(0, 1), Box(0, True)),
        (Box(0, 0.0), Box(0, -0.0)),
        (Box(0, (1, 2)), Box(0, (1, 2.0))),
        (Box(0, "m"), Box(0, Mode("m"))),
        ({"m": 0}, {Mode("m"): 0}),
    ],
)
def test_structures_of_lookalikes_are_equal_but_not_shared(one, two):
    """Sharing would give a tree back with the key or the auxiliary data of another one."""
    first, second = tree.structure(one), tree.structure(two)
    assert first == second
    assert hash(first) == hash(second)
    assert first is not second
    for treedef, value in ((first, one), (second, two)):
        again = treedef.unflatten([0])
        aux = next(iter(again)) if isinstance(again, dict) else again.label
        expected = next(iter(value)) if isinstance(value, dict) else value.label
        assert repr(aux) == repr(expected)
        assert type(aux) is type(expected)


def test_a_structure_does_not_outlive_its_use_with_a_closure():

    def flatten_closures():
        captured = np.ones(3)
        nodes = [tree.Partial(lambda x: (x, captured), 1), Box(1, ("f", lambda: captured))]
        assert tree.structure(nodes) == tree.structure(nodes)
        hash(tree.structure(nodes))
        return weakref.ref(captured)

    reference = flatten_closures()
    gc.collect()
    assert reference() is None


def test_treedef_children_and_node_data():
    treedef = tree.structure([(1, 2), 3, {"b": 4, "a": None}])
    assert [str(child) for child in treedef.children()] == [
        "PyTreeDef((*, *))",
        "PyTreeDef(*)",
        "PyTreeDef({'a': None, 'b': *})",
    ]
    assert treedef.children() == [tree.structure((1, 2)), tree.structure(3), tree.structure({"b": 4, "a": None})]
    assert tree.treedef_children(treedef) == treedef.children()
    assert treedef.node_data() == (list, None)
    assert tree.structure(1).node_data() is None
    assert tree.structure(1).children() == []
    assert tree.structure({"b": 1, "a": 2}).node_data() == (dict, ["a", "b"])
    assert tree.structure(Box(1, "x")).node_data() == (Box, "x")


@pytest.mark.parametrize(
    ("one", "two"), [([(1,)], [1, 2]), ([[1], []], [[], [1]]), ((1, (2,)), ((1,), 2)), ([None], [()])]
)
def test_structures_of_equal_counts_may_differ(one, two):
    for label in ("shared", ["not shared"]):
        assert tree.structure(Box(one, label)) != tree.structure(Box(two, label))
        assert tree.structure(Box(one, label)) == tree.structure(Box(one, label))


def test_treedef_children_are_a_copy():
    treedef = tree.structure((1, 2))
    treedef.children().clear()
    assert len(treedef.children()) == 2


def test_treedef_counts_cannot_be_assigned():
    with pytest.raises(AttributeError):
        tree.structure((1, 2)).num_leaves = 3


def test_compose_puts_a_structure_at_each_leaf():
    outer, inner = tree.structure({"a": 0, "b": [0, None]}), tree.structure((0, 0))
    composed = outer.compose(inner)
    assert composed == tree.structure({"a": (0, 0), "b": [(0, 0), None]})
    assert composed is tree.structure({"a": (0, 0), "b": [(0, 0), None]})
    assert (composed.num_leaves, composed.num_nodes) == (4, 9)
    assert tree.structure(0).compose(inner) is inner
    assert inner.compose(tree.structure(0)) is inner


def test_treedef_tuple_and_questions():
    pieces = [1, [2, None], {"a": 3}]
    assert tree.treedef_tuple(map(tree.structure, pieces)) == tree.structure(tuple(pieces))
    assert tree.treedef_tuple([]) == tree.structure(())
    assert tree.treedef_is_leaf(tree.structure(1))
    assert not tree.treedef_is_leaf(tree.structure([1]))
    assert tree.all_leaves([1, "a"])
    assert not tree.all_leaves([1, [2]])
    assert not tree.all_leaves([None])
    assert tree.all_leaves([None, [1]], is_leaf=lambda x: True)
    assert tree.is_tree_node(Point)
    assert tree.is_tree_node(type(None))
    assert not tree.is_tree_node(str)
    assert not tree.is_tree_node(type("Sub", (list,), {}))


@pytest.mark.parametrize("function", [tree.treedef_children, tree.treedef_is_leaf, lambda x: tree.treedef_tuple([x])])
def test_a_tree_in_place_of_a_structure_is_refused(function):
    with pytest.raises(TreeTypeError, match=r"expected a PyTreeDef as .*, got a list; take the structure"):
        function([1])


def test_treedef_of_unhashable_auxiliary_data():
    """It is told apart by `==`, as in JAX; its key in caches also tells 1 from True."""
    leaves, treedef = tree.flatten([Box(1, {"x": [1, {2}]})])
    assert leaves == [1]
    for aux, is_equal, has_same_key in (
        ({"x": [1, {2}]}, True, True),
        ({"x": [True, {2}]}, True, False),
        ({}, False, False),
    ):
        compared = tree.structure([Box(2, aux)])
        assert (treedef == compared) is is_equal
        assert hash(treedef) == hash(compared) or not is_equal
        assert (treedef.exact_key == compared.exact_key) is has_same_key
        hash(compared.exact_key)


def test_treedef_key_of_arrays_as_auxiliary_data():
    inside = tree.structure([1, Box(1, np.ones(2))])
    with pytest.raises(TreeTypeError, match=r"auxiliary data of Box that has a hash, .* got array\(\[1., 1.\]\)"):
        inside.exact_key  # noqa: B018  # the property raises


def test_treedef_comparison_of_incomparable_auxiliary_data():
    one, two = tree.structure(Box(1, np.ones(2))), tree.structure(Box(1, np.ones(2)))
    with pytest.raises(
        TreeTypeError, match=r"auxiliary data of Box that == can compare, got array.* arrays as children"
    ):
        one == two  # noqa: B015  # the comparison raises
    assert one == one  # the same object compares nothing
