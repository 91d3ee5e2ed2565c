"""Key paths: where each leaf stands."""

import dataclasses
from collections import OrderedDict, defaultdict, namedtuple

import pytest

from lawful import tree
from lawful.tree.base import TreeStructureError, TreeTypeError

Point = namedtuple("Point", ["x", "y"])


@tree.register_dataclass
@dataclasses.dataclass
class Layer:
    weight: object
    bias: object
    name: str = tree.static(default="linear")


class Plain:
    def __init__(self, *parts):
        self.parts = parts


class Keyed(Plain):
    pass


tree.register_node(Plain, lambda node: (node.parts, None), lambda _, parts: Plain(*parts))
tree.register_node_with_keys(
    Keyed,
    lambda node: ([(f"<{index}>", part) for index, part in enumerate(node.parts)], None),
    lambda _, parts: Keyed(*parts),
)

VALUE = {
    "a": [1, (2,)],
    "b": Point(3, OrderedDict(z=4)),
    "c": defaultdict(int, {7: 5}),
    "d": Layer(6, {"k": 7}),
    "e": Plain(8, [9]),
    "f": Keyed(10, (11,)),
    "g": tree.Partial(max, 12, key=13),
}
PATHS = [
    "['a'][0]",
    "['a'][1][0]",
    "['b'].x",
    "['b'].y['z']",
    "['c'][7]",
    "['d'].weight",
    "['d'].bias['k']",
    "['e'][<flat index 0>]",
    "['e'][<flat index 1>][0]",
    "['f']<0>",
    "['f']<1>[0]",
    "['g'][<flat index 0>][0]",
    "['g'][<flat index 1>]['key']",
]


def test_key_path_every_node_type_has_its_keys():
    pairs, treedef = tree.flatten_with_path(VALUE)
    assert [tree.keystr(path) for path, _ in pairs] == PATHS
    assert [leaf for _, leaf in pairs] == list(range(1, 14))
    assert treedef == tree.structure(VALUE)
    assert tree.leaves_with_path(VALUE) == pairs


def test_paths_are_tuples_of_keys():
    (pair,) = tree.leaves_with_path([{"x": Point([1], None)}])
    assert pair == ((tree.SequenceKey(0), tree.DictKey("x"), tree.GetAttrKey("x"), tree.SequenceKey(0)), 1)
    assert tree.leaves_with_path(1) == [((), 1)]
    assert tree.leaves_with_path(None) == []


def test_key_path_keys_are_values():
    keys = [tree.SequenceKey(1), tree.DictKey(1), tree.GetAttrKey("1"), tree.FlattenedIndexKey(1)]
    assert len({*keys, *keys}) == 4
    assert [repr(key) for key in keys] == [
        "SequenceKey(idx=1)",
        "DictKey(key=1)",
        "GetAttrKey(name='1')",
        "FlattenedIndexKey(key=1)",
    ]
    assert (keys[0].idx, keys[1].key, keys[2].name, keys[3].key) == (1, 1, "1", 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        keys[0].idx = 2


def test_keystr():
    path = (tree.DictKey("a b"), tree.SequenceKey(0), tree.GetAttrKey("w"), tree.FlattenedIndexKey(2), "mine")
    assert tree.keystr(path) == "['a b'][0].w[<flat index 2>]mine"
    assert tree.keystr(path, simple=True, separator="/") == "a b/0/w/2/mine"
    assert tree.keystr(path, separator=" ") == "['a b'] [0] .w [<flat index 2>] mine"
    assert tree.keystr(()) == ""


def test_is_leaf_may_take_the_path():
    seen = []

    def is_leaf(path, subtree):
        seen.append((tree.keystr(path), subtree))
        return tree.keystr(path) == "[1]"

    pairs, treedef = tree.flatten_with_path([1, (2, 3)], is_leaf, is_leaf_takes_path=True)
    assert pairs == [((tree.SequenceKey(0),), 1), ((tree.SequenceKey(1),), (2, 3))]
    assert str(treedef) == "PyTreeDef([*, *])"
    assert seen == [("", [1, (2, 3)]), ("[0]", 1), ("[1]", (2, 3))]
    assert len(tree.leaves_with_path([1, (2, 3)], lambda x: isinstance(x, tuple))) == 2


def test_map_with_path():
    mapped = tree.map_with_path(lambda path, x, y: (tree.keystr(path), x, y), {"a": (1, 2)}, {"a": (3, [4])})
    assert mapped == {"a": (("['a'][0]", 1, 3), ("['a'][1]", 2, [4]))}
    assert tree.map_with_path(lambda *row: row, {}) == {}
    assert tree.map_with_path(
        lambda path, x: len(path), [(1, 2)], is_leaf=lambda path, x: len(path) == 1, is_leaf_takes_path=True
    ) == [1]


def test_map_with_path_names_itself_in_its_errors():
    with pytest.raises(TreeStructureError, match=r"map_with_path: expected a tuple of length 2 at the root"):
        tree.map_with_path(lambda *row: row, (1, 2), [1, 2])
    with pytest.raises(TreeTypeError, match=r"map_with_path: expected a function as f, got a list"):
        tree.map_with_path([1], lambda x: x)


def test_flatten_one_level():
    assert tree.flatten_one_level({"b": [1], "a": 2}) == ((2, [1]), ("a", "b"))
    assert tree.flatten_one_level_with_keys(Point(1, [2])) == (
        [(tree.GetAttrKey("x"), 1), (tree.GetAttrKey("y"), [2])],
        None,
    )
    assert tree.flatten_one_level_with_keys(Keyed(5)) == ([("<0>", 5)], None)
    with pytest.raises(TreeTypeError, match=r"flatten_one_level: expected a node of a tree, got a leaf of type int"):
        tree.flatten_one_level(3)
