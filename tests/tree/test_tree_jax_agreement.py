"""`lawful.tree` and `jax.tree` give the same answers."""

import dataclasses
import inspect
from collections import OrderedDict, defaultdict, namedtuple

import jax
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawful import tree

Point = namedtuple("Point", ["x", "y"])


class Box:
    def __init__(self, parts, label):
        self.parts, self.label = parts, label

    def __eq__(self, other):
        return type(other) is type(self) and (self.parts, self.label) == (other.parts, other.label)

    __hash__ = None


class Keyed(Box):
    pass


for library, register, with_keys in (
    (tree, tree.register_node, tree.register_node_with_keys),
    (jax.tree_util, jax.tree_util.register_pytree_node, jax.tree_util.register_pytree_with_keys),
):
    register(Box, lambda box: (box.parts, box.label), lambda label, parts: Box(parts, label))
    with_keys(
        Keyed,
        lambda box, key=library.GetAttrKey: ([(key(f"part{i}"), x) for i, x in enumerate(box.parts)], box.label),
        lambda label, parts: Keyed(parts, label),
    )


@tree.register_dataclass
@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    weight: object
    bias: object
    name: str = tree.static(default="linear")


def containers(children):
    parts = st.lists(children, max_size=3)
    names = st.dictionaries(st.sampled_from("abc"), children, max_size=3)
    return st.one_of(
        parts,
        parts.map(tuple),
        names,
        st.dictionaries(st.integers(0, 3), children, max_size=2),
        names.map(OrderedDict),
        names.map(lambda d: defaultdict(list, d)),
        st.builds(Point, children, children),
        st.builds(Box, parts.map(tuple), st.sampled_from(["l", ("m", 1), None])),
        st.builds(Keyed, parts.map(tuple), st.sampled_from(["l", ("m", 1), None])),
        st.builds(Layer, children, children, st.sampled_from(["linear", "conv"])),
    )


trees = st.recursive(st.one_of(st.integers(0, 99), st.none(), st.just("leaf")), containers, max_leaves=10)


def is_small_tuple(value):
    return type(value) is tuple and len(value) < 2


def outcome(function, *args, **kwargs):
    """The result of a call: its value, or that it raises (texts and classes of errors differ)."""
    try:
        return "value", function(*args, **kwargs)
    except (ValueError, TypeError):
        return "error", None


@given(trees)
def test_tree_leaves_and_structures(value):
    leaves, treedef = tree.flatten(value)
    jax_leaves, jax_treedef = jax.tree.flatten(value)
    assert leaves == jax_leaves
    assert repr(treedef) == repr(jax_treedef)
    assert (treedef.num_leaves, treedef.num_nodes) == (jax_treedef.num_leaves, jax_treedef.num_nodes)
    assert treedef.node_data() == jax_treedef.node_data()
    assert [repr(child) for child in treedef.children()] == [repr(child) for child in jax_treedef.children()]
    replaced = list(range(len(leaves)))
    assert treedef.unflatten(replaced) == jax_treedef.unflatten(replaced)


@given(trees)
def test_tree_is_leaf(value):
    ours, theirs = [], []
    leaves, treedef = tree.flatten(value, is_leaf=lambda x: ours.append(x) or is_small_tuple(x))
    jax_leaves, jax_treedef = jax.tree.flatten(value, is_leaf=lambda x: theirs.append(x) or is_small_tuple(x))
    assert leaves == jax_leaves
    assert repr(treedef) == repr(jax_treedef)
    assert ours == theirs


@given(trees)
def test_tree_paths(value):
    paired, treedef = tree.flatten_with_path(value)
    jax_paired, jax_treedef = jax.tree.flatten_with_path(value)
    assert [leaf for _, leaf in paired] == [leaf for _, leaf in jax_paired]
    assert [repr(path) for path, _ in paired] == [repr(path) for path, _ in jax_paired]
    assert repr(treedef) == repr(jax_treedef)
    for (path, _), (jax_path, _) in zip(paired, jax_paired, strict=True):
        assert tree.keystr(path) == jax.tree_util.keystr(jax_path)
        simple = {"simple": True, "separator": "/"}
        assert tree.keystr(path, **simple) == jax.tree_util.keystr(jax_path, **simple)


@given(trees, trees)
def test_tree_equality_and_prefixes(one, two):
    ours, theirs = (tree.structure(one), tree.structure(two)), (jax.tree.structure(one), jax.tree.structure(two))
    assert (ours[0] == ours[1]) == (theirs[0] == theirs[1])
    assert outcome(ours[0].flatten_up_to, two) == outcome(theirs[0].flatten_up_to, two)
    assert outcome(tree.map, lambda *row: row, one, two) == outcome(jax.tree.map, lambda *row: row, one, two)
    assert outcome(tree.broadcast, one, two) == outcome(jax.tree.broadcast, one, two)
    assert repr(ours[0].compose(ours[1])) == repr(theirs[0].compose(theirs[1]))
    assert repr(tree.treedef_tuple(ours)) == repr(jax.tree_util.treedef_tuple(theirs))


@given(trees)
def test_map_of_a_tree_and_its_deeper_like(value):
    deeper = tree.map(lambda x: [x, (x,)], value)
    assert tree.map(lambda *row: row, value, deeper) == jax.tree.map(lambda *row: row, value, deeper)
    assert tree.broadcast(value, deeper) == jax.tree.broadcast(value, deeper)
    none_is_leaf = {"is_leaf": lambda x: x is None}
    assert outcome(tree.broadcast, value, deeper, **none_is_leaf) == outcome(
        jax.tree.broadcast, value, deeper, **none_is_leaf
    )


@given(trees, trees)
def test_tree_transpose(outer, inner):
    value = tree.structure(outer).compose(tree.structure(inner))
    value = value.unflatten(range(value.num_leaves))
    ours = tree.structure(outer), tree.structure(inner)
    theirs = jax.tree.structure(outer), jax.tree.structure(inner)
    if ours[0].num_leaves:  # jax refuses to transpose a tree whose outer structure is empty
        assert tree.transpose(*ours, value) == jax.tree.transpose(*theirs, value)
        assert tree.transpose(ours[0], None, value) == jax.tree.transpose(theirs[0], None, value)


@given(trees)
def test_tree_reductions(value):
    assert tree.all(value) == jax.tree.all(value)
    assert tree.reduce(lambda x, y: (x, y), value, None) == jax.tree.reduce(lambda x, y: (x, y), value, None)
    pairing = lambda x, y: ("pair", x, y)  # noqa: E731  # not associative, so that it shows the order
    assert tree.reduce_associative(pairing, value, identity=0) == jax.tree.reduce_associative(
        pairing, value, identity=0
    )
    assert tree.all_leaves([value, 1]) == jax.tree_util.all_leaves([value, 1])


@given(trees)
def test_tree_one_level(value):
    ours, theirs = (outcome(library.flatten_one_level, value) for library in (tree, jax.tree_util))
    if ours[0] == "value":
        (children, aux), (jax_children, jax_aux) = ours[1], theirs[1]
        # For a namedtuple, jax gives the type here, and None in node_data.
        ours, theirs = (list(children), type(value) if type(value) is Point else aux), (list(jax_children), jax_aux)
    assert ours == theirs


SAME_SIGNATURE = [
    *[(getattr(tree, name), getattr(jax.tree, name)) for name in dir(jax.tree) if not name.startswith("_")],
    (tree.keystr, jax.tree_util.keystr),
    (tree.all_leaves, jax.tree_util.all_leaves),
    (tree.is_tree_node, jax.tree_util.is_tree_node),
    (tree.flatten_one_level, jax.tree_util.flatten_one_level),
    (tree.flatten_one_level_with_keys, jax.tree_util.flatten_one_level_with_keys),
    (tree.treedef_tuple, jax.tree_util.treedef_tuple),
    (tree.treedef_children, jax.tree_util.treedef_children),
    (tree.treedef_is_leaf, jax.tree_util.treedef_is_leaf),
    (tree.register_node, jax.tree_util.register_pytree_node),
    (tree.register_node_with_keys, jax.tree_util.register_pytree_with_keys),
    (tree.register_node_class, jax.tree_util.register_pytree_node_class),
    (tree.register_node_with_keys_class, jax.tree_util.register_pytree_with_keys_class),
    (tree.register_dataclass, jax.tree_util.register_dataclass),
    (tree.register_static, jax.tree_util.register_static),
]


@pytest.mark.parametrize(("ours", "theirs"), SAME_SIGNATURE, ids=lambda function: function.__name__)
def test_tree_argument_names_and_defaults(ours, theirs):
    def arguments(function):
        return [
            (parameter.name, parameter.kind, has_plain_default(parameter))
            for parameter in inspect.signature(function).parameters.values()
        ]

    def has_plain_default(parameter):
        # The sentinels for "not given" are objects of each library.
        return "sentinel" if "nspecified" in type(parameter.default).__name__ else parameter.default

    assert arguments(ours) == arguments(theirs)


def test_nothing_of_jax_tree_is_missing():
    assert {name for name in dir(jax.tree) if not name.startswith("_")} <= set(tree.__all__)
