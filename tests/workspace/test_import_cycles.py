"""No package has an import cycle, neither between its modules nor between the folders at any depth.

Imports inside functions count, those for type checkers do not. An import of the package itself does not count: rules
refer to other ops through it.
"""

from collections.abc import Iterator, Mapping, Set

import grimp
import pytest

Graph = Mapping[str, Set[str]]


@pytest.fixture(scope="module")
def packages() -> dict[str, Graph]:
    """The modules that each module of a package imports, by package; without the package's own ``__init__``."""
    imports = grimp.build_graph("lawful", exclude_type_checking_imports=True, cache_dir=None)
    found: dict[str, dict[str, Set[str]]] = {}
    for module in imports.modules:
        parts = module.split(".")
        if len(parts) > 2:
            found.setdefault(".".join(parts[:2]), {})[module] = imports.find_modules_directly_imported_by(module)
    return {name: {m: to & graph.keys() for m, to in graph.items()} for name, graph in found.items()}


def cyclic(graph: Graph) -> set[str]:
    """Returns the nodes that are in a cycle."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = list(graph[start])
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += graph[node]
        return seen

    return {node for node in graph if node in reached(node)}


def levels(graph: Graph) -> Iterator[tuple[str, Graph]]:
    """Returns the graphs of a package and of each folder in it.

    The nodes of such a graph are the modules and folders directly in the folder.
    """
    inside = {".".join(parts[:depth]) for parts in (m.split(".") for m in graph) for depth in range(2, len(parts))}
    for folder in sorted(inside):
        depth = folder.count(".") + 2

        def node(module: str, depth: int = depth) -> str:
            return ".".join(module.split(".")[:depth])

        modules = [module for module in graph if module.startswith(f"{folder}.")]
        found: dict[str, set[str]] = {node(module): set() for module in modules}
        for module in modules:
            imported = {node(other) for other in graph[module] if other.startswith(f"{folder}.")}
            found[node(module)] |= imported - {node(module)}
        yield folder, found


def test_packages_have_no_import_cycles(packages: dict[str, Graph]) -> None:
    assert {name: found for name, graph in packages.items() if (found := cyclic(graph))} == {}


def imports_between(graph: Graph, nodes: Set[str]) -> list[str]:
    """Returns the imports from one of these modules and folders to another one, a line each."""

    def node(module: str) -> str | None:
        return next((each for each in nodes if f"{module}.".startswith(f"{each}.")), None)

    pairs = [(module, other) for module in graph for other in graph[module]]
    lines = [f"{a} imports {b}" for a, b in pairs if node(a) and node(b) and node(a) != node(b)]
    return sorted(lines)


def test_folders_have_no_import_cycles(packages: dict[str, Graph]) -> None:
    found = [
        line
        for graph in packages.values()
        for _, level in levels(graph)
        for line in imports_between(graph, cyclic(level))
    ]
    cure = "import a type under TYPE_CHECKING; move what both folders need below them; pass a function as an argument"
    assert not found, "\n".join(["folders import each other:", *found, cure])


def test_imports_between_folders_names_modules() -> None:
    graph = {"p.x.a": {"p.y.b", "p.x.c"}, "p.x.c": set(), "p.y.b": {"p.x.c", "p.z"}, "p.z": set()}
    assert imports_between(graph, {"p.x", "p.y"}) == ["p.x.a imports p.y.b", "p.y.b imports p.x.c"]


def test_cyclic_finds_the_nodes_of_cycles() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"e"}}
    assert cyclic(graph) == {"b", "c", "e"}


def test_levels_are_the_graphs_of_all_folders() -> None:
    graph = {"n.p.x": {"n.p.y.z.a"}, "n.p.y.z.a": {"n.p.y.w"}, "n.p.y.w": {"n.p.y.z.b", "n.p.x"}, "n.p.y.z.b": set()}
    found = dict(levels(graph))
    assert found == {
        "n.p": {"n.p.x": {"n.p.y"}, "n.p.y": {"n.p.x"}},
        "n.p.y": {"n.p.y.z": {"n.p.y.w"}, "n.p.y.w": {"n.p.y.z"}},
        "n.p.y.z": {"n.p.y.z.a": set(), "n.p.y.z.b": set()},
    }
    assert cyclic(found["n.p.y"]) == {"n.p.y.z", "n.p.y.w"}
