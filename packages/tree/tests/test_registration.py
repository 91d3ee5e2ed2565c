"""New node types."""

import dataclasses
import functools
from collections import namedtuple

import pytest

from lawful import tree
from lawful.tree.base import ArgumentValueError, NestingError, TreeTypeError


def make_class():
    class Box:
        def __init__(self, *parts, label="l"):
            self.parts, self.label = parts, label

        def __repr__(self):
            return f"Box{self.parts}"

    return Box


def test_register_node():
    box_type = make_class()
    seen = []

    def unflatten(label, parts):
        seen.append((label, parts))
        return box_type(*parts, label=label)

    assert tree.leaves([box_type(1, 2)])[0].parts == (1, 2)  # met as a leaf before
    tree.register_node(box_type, lambda box: (iter(box.parts), box.label), unflatten)
    mapped = tree.map(lambda x: 10 * x, [box_type(1, (2, 3), label="m")])
    assert mapped[0].parts == (10, (20, 30))
    assert seen == [("m", (10, (20, 30)))]
    assert type(seen[0][1]) is tuple
    assert tree.is_tree_node(box_type)
    assert tree.leaves(type("Sub", (box_type,), {})(1))[0].parts == (1,)


def test_register_node_with_the_function_for_keys():
    box_type = make_class()
    tree.register_node(
        box_type,
        lambda box: (box.parts, None),
        lambda _, parts: box_type(*parts),
        lambda box: ([("k", box.parts[0])], None),
    )
    assert tree.leaves_with_path(box_type(5)) == [(("k",), 5)]


def test_register_node_with_keys_fast_function():
    """The function without keys is used where no keys are needed."""
    box_type, calls = make_class(), []

    def with_keys(box):
        calls.append("keys")
        return [(tree.SequenceKey(i), part) for i, part in enumerate(box.parts)], box.label

    def fast(box):
        calls.append("fast")
        return box.parts, box.label

    tree.register_node_with_keys(box_type, with_keys, lambda label, parts: box_type(*parts, label=label), fast)
    assert tree.leaves(box_type(1, 2)) == [1, 2]
    assert calls == ["fast"]
    assert tree.leaves_with_path(box_type(1)) == [((tree.SequenceKey(0),), 1)]
    assert calls == ["fast", "keys"]
    assert tree.flatten_with_path(box_type(1))[1] == tree.structure(box_type(1))


def test_register_node_class():
    @tree.register_node_class
    class Pair:
        def __init__(self, x, y):
            self.x, self.y = x, y

        def tree_flatten(self):
            return (self.x,), self.y

        @classmethod
        def tree_unflatten(cls, aux_data, children):
            return cls(*children, aux_data)

    assert Pair.__name__ == "Pair"
    again = tree.map(lambda x: -x, Pair(1, "y"))
    assert (again.x, again.y) == (-1, "y")


@pytest.mark.parametrize("has_fast", [True, False])
def test_register_node_with_keys_class(has_fast):
    class Named:
        def __init__(self, value):
            self.value = value

        def tree_flatten_with_keys(self):
            return [(tree.GetAttrKey("value"), self.value)], None

        @classmethod
        def tree_unflatten(cls, aux_data, children):
            return cls(*children)

        if has_fast:

            def tree_flatten(self):
                return [self.value], None

    assert tree.register_node_with_keys_class(Named) is Named
    assert tree.leaves_with_path(Named((1,))) == [((tree.GetAttrKey("value"), tree.SequenceKey(0)), 1)]
    assert tree.map(lambda x: x + 1, Named(1)).value == 2


@pytest.mark.parametrize("register", [tree.register_node_class, tree.register_node_with_keys_class])
def test_register_class_without_the_methods_is_refused(register):
    with pytest.raises(TreeTypeError, match=r"expected Box to have a method tree_flatten\w*, got none; define it"):
        register(make_class())


def test_register_static():
    @tree.register_static
    @dataclasses.dataclass(frozen=True)
    class Config:
        size: int

    value = [Config(3), 1.0]
    leaves, treedef = tree.flatten(value)
    assert leaves == [1.0]
    assert treedef.unflatten(leaves)[0] is value[0]
    assert treedef == tree.structure([Config(3), 2.0])
    assert hash(treedef) == hash(tree.structure([Config(3), 2.0]))
    assert treedef != tree.structure([Config(4), 2.0])


def test_register_dataclass_reads_static_fields():
    @tree.register_dataclass
    @dataclasses.dataclass
    class Model:
        w: object
        name: str = dataclasses.field(metadata={"static": True}, default="n")
        b: object = 0
        size: int = tree.static(default=3, metadata={"doc": "kept"})

    assert tree.leaves(Model(1, "m", (2, 3), 4)) == [1, 2, 3]
    assert tree.structure(Model(1)).node_data() == (Model, ("n", 3))
    assert tree.map(lambda x: x + 1, Model(1, "m", 2, 4)) == Model(2, "m", 3, 4)
    assert [tree.keystr(path) for path, _ in tree.leaves_with_path(Model(1, b=[2]))] == [".w", ".b[0]"]
    assert dict(dataclasses.fields(Model)[3].metadata) == {"static": True, "doc": "kept"}
    assert tree.structure(Model(1, "m")) != tree.structure(Model(1, "n"))


def test_register_dataclass_as_a_decorator_with_arguments():
    @functools.partial(tree.register_dataclass, data_fields=["w"], meta_fields=["name"])
    @dataclasses.dataclass
    class Model:
        name: str
        w: object

    assert tree.leaves(Model("m", [1, 2])) == [1, 2]
    assert tree.map(lambda x: -x, Model("m", 1)) == Model("m", -1)


def test_register_dataclass_of_another_class():
    class Model:
        def __init__(self, *, w, name):
            self.w, self.name = w, name

    data = ["w"]
    assert tree.register_dataclass(Model, data, ["name"]) is Model
    data.append("changed later")
    again = tree.map(lambda x: -x, Model(w=1, name="m"))
    assert (again.w, again.name) == (-1, "m")


def test_register_dataclass_drops_fields():
    @functools.partial(tree.register_dataclass, drop_fields=["cache"])
    @dataclasses.dataclass
    class Model:
        w: object
        cache: object = None

    assert tree.leaves(Model(1, 2)) == [1]
    assert tree.map(lambda x: x, Model(1, 2)) == Model(1, None)


def test_register_dataclass_with_no_data_and_with_no_fields():
    @tree.register_dataclass
    @dataclasses.dataclass(frozen=True)
    class Empty:
        pass

    assert tree.leaves([Empty()]) == []
    assert tree.map(lambda x: x, Empty()) == Empty()
    assert tree.structure(Empty()) is tree.structure(Empty())


@dataclasses.dataclass
class Fields:
    a: object
    b: object
    late: object = dataclasses.field(init=False, default=0)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((["a"], ["b", "late"]), ArgumentValueError, "fields that the constructor of Fields takes, got late; remove"),
        ((["a", "b"], ["c"]), ArgumentValueError, "expected fields that the constructor of Fields takes, got c;"),
        ((["a"], []), ArgumentValueError, "got none with b; add it, or put it in drop_fields"),
        ((["a", "b"], ["b"]), ArgumentValueError, "in data_fields or in meta_fields, got b in both; remove"),
        ((["a", "b"],), TreeTypeError, "expected both data_fields and meta_fields, or neither"),
        ((None, ["a", "b"]), TreeTypeError, "expected both data_fields and meta_fields, or neither"),
        ((), ArgumentValueError, "got late; remove it, or put a field made with init=False in drop_fields"),
    ],
)
def test_register_dataclass_refuses_bad_fields(arguments, error, text):
    with pytest.raises(error, match=f"register_dataclass: .*{text}"):
        tree.register_dataclass(Fields, *arguments)
    assert not tree.is_tree_node(Fields)


def test_register_what_is_not_a_dataclass_is_refused():
    with pytest.raises(TreeTypeError, match=r"expected a dataclass, got Box; put @dataclass below @register_dataclass"):
        tree.register_dataclass(make_class())


REGISTER = [
    lambda cls: tree.register_node(cls, lambda x: ((), None), lambda a, c: None),
    lambda cls: tree.register_node_with_keys(cls, lambda x: ((), None), lambda a, c: None),
    tree.register_static,
    lambda cls: tree.register_dataclass(cls, [], []),
]


@pytest.mark.parametrize("register", REGISTER)
@pytest.mark.parametrize("again", REGISTER)
def test_double_registration_is_a_value_error(register, again):
    cls = make_class()
    register(cls)
    with pytest.raises(ValueError, match=r"expected a type that is not a node type yet, got Box, which is;") as caught:
        again(cls)
    assert isinstance(caught.value, ArgumentValueError)


@pytest.mark.parametrize("cls", [tuple, list, dict, type(None), tree.Partial])
def test_built_in_node_types_cannot_be_registered(cls):
    with pytest.raises(ArgumentValueError, match=f"got {cls.__name__}, which is"):
        tree.register_static(cls)


@pytest.mark.parametrize("register", REGISTER)
def test_register_instance_in_place_of_a_class_is_refused(register):
    with pytest.raises(TreeTypeError, match=r"expected a class as nodetype, got 3; give the class itself"):
        register(3)


def test_register_functions_that_are_not_callable_are_refused():
    with pytest.raises(TreeTypeError, match=r"expected a function as flatten_func, got 3"):
        tree.register_node(make_class(), 3, lambda a, c: None)
    with pytest.raises(TreeTypeError, match=r"expected a function as unflatten_func, got None"):
        tree.register_node_with_keys(make_class(), lambda x: None, None)


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (3, r"expected a pair \(children, aux_data\), got 3; return a tuple"),
        ([(), None], r"expected a pair \(children, aux_data\), got \[\(\), None\]; return a tuple"),
        (((), None, 1), r"expected a pair \(children, aux_data\), got \(\(\), None, 1\)"),
        ((3, None), r"expected an iterable of children as first of the pair, got 3"),
    ],
)
@pytest.mark.parametrize(
    "use", [tree.leaves, tree.leaves_with_path, lambda x: tree.map(id, x, is_leaf=lambda _: False)]
)
def test_register_flatten_function_that_returns_rubbish_is_named(result, text, use):
    cls = make_class()
    tree.register_node(cls, lambda box: result, lambda aux, children: None)
    with pytest.raises(TreeTypeError, match=rf"the flatten function of Box: {text}"):
        use([cls()])


def test_register_function_for_keys_returns_rubbish_is_named():
    cls = make_class()
    tree.register_node_with_keys(cls, lambda box: ([1], None), lambda aux, children: None)
    with pytest.raises(
        TreeTypeError, match=r"flatten_with_keys function of Box: expected a pair \(key, child\) .* got 1"
    ):
        tree.leaves(cls())


def test_register_exception_of_users_function_arrives_untouched():
    class Mine(Exception):
        pass

    def fail(*_):
        raise Mine

    cls, other = make_class(), make_class()
    tree.register_node(cls, fail, fail)
    tree.register_node(other, lambda box: (box.parts, None), fail)
    for use in (tree.leaves, tree.leaves_with_path, lambda x: tree.leaves(x, lambda _: False)):
        with pytest.raises(Mine):
            use([cls()])
    with pytest.raises(Mine):
        tree.map(id, other(1))


def test_register_unsortable_keys_are_refused():
    with pytest.raises(
        TreeTypeError, match=r"expected a dict whose keys can be sorted, got one with keys 1, 'a'.*Ordered"
    ):
        tree.leaves([{1: 0, "a": 0}])


@pytest.mark.parametrize("result", [1, None, "yes"])
def test_register_is_leaf_must_return_a_bool(result):
    with pytest.raises(TreeTypeError, match=rf"expected is_leaf to return True or False, got {result!r}"):
        tree.leaves([1], is_leaf=lambda _: result)
    with pytest.raises(TreeTypeError, match=rf"expected is_leaf to return True or False, got {result!r}"):
        tree.leaves_with_path([1], is_leaf=lambda _: result)


@pytest.mark.parametrize(
    "use", [tree.flatten, tree.leaves_with_path, lambda x: tree.leaves(x, lambda _: False), lambda x: tree.map(id, x)]
)
def test_register_tree_that_contains_itself_is_refused(use):
    cyclic = [1, {"a": (2,)}]
    cyclic[1]["b"] = cyclic
    with pytest.raises(TreeTypeError, match=r"contains itself: tree\[0\]\[1\]\['b'\] is tree\[0\]; break the cycle"):
        use((cyclic, cyclic))


def test_register_endless_depth_without_cycle_is_recursion_error():
    value = ()
    for _ in range(5000):
        value = (value, value)
    with pytest.raises(RecursionError):
        tree.leaves(value)
    endless = make_class()
    tree.register_node(endless, lambda box: ((endless(),), None), lambda aux, children: None)
    with pytest.raises(RecursionError):
        tree.leaves(endless())


def test_namedtuple_may_be_registered_with_functions_of_its_own():
    Pair = namedtuple("Pair", "x y")  # a namedtuple is the point
    assert tree.leaves(Pair(1, 2)) == [1, 2]
    tree.register_node(Pair, lambda pair: ((pair.y,), pair.x), lambda x, children: Pair(x, *children))
    assert tree.leaves(Pair(1, 2)) == [2]
    assert tree.map(lambda y: -y, Pair(1, 2)) == Pair(1, -2)


def test_partial():
    add = tree.Partial(lambda *args, **kwargs: (args, kwargs), 1, [2], key=3)
    assert add(4, other=5) == ((1, [2], 4), {"key": 3, "other": 5})
    leaves, treedef = tree.flatten(add)
    assert leaves == [1, 2, 3]
    again = treedef.unflatten([10, 20, 30])
    assert isinstance(again, tree.Partial)
    assert again() == ((10, [20]), {"key": 30})
    assert treedef == tree.structure(again)
    assert hash(treedef) == hash(tree.structure(again))


def test_partial_of_functools_partial():
    """The arguments of the inner functools.partial are no leaves."""
    inner = functools.partial(lambda *args: args, 1)
    outer = tree.Partial(inner, 2)
    assert outer(3) == (1, 2, 3)
    assert tree.leaves(outer) == [2]
    assert tree.structure(outer) == tree.structure(tree.Partial(inner, 5))
    assert hash(tree.structure(outer)) == hash(tree.structure(tree.Partial(inner, 5)))
    assert tree.map(lambda x: 10 * x, outer)(3) == (1, 20, 3)


@pytest.mark.parametrize("use", [tree.leaves, tree.structure, tree.leaves_with_path, lambda x: tree.map(abs, x)])
def test_register_tree_deeper_than_the_stack(use):
    value = 1.0
    for _ in range(3000):
        value = [value]
    with pytest.raises(NestingError, match="nested less deeply than Python's recursion limit"):
        use(value)
