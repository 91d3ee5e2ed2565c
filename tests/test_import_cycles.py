"""No package has an import cycle, and where one is made of folders, these form no cycle either.

Imports inside functions count, those for type checkers do not. An import of the package itself does not count: rules
refer to other ops through it.
"""

from collections.abc import Callable, Iterator, Mapping, Set

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


def folders(graph: Graph) -> Graph:
    """Returns the graph of a package's folders: a module directly in the package is a folder of its own."""

    def folder(module: str) -> str:
        return module.split(".")[2]

    found: dict[str, set[str]] = {folder(module): set() for module in graph}
    for module, imported in graph.items():
        found[folder(module)] |= {folder(other) for other in imported} - {folder(module)}
    return found


def counts(packages: Mapping[str, Graph], of: Callable[[Graph], Graph]) -> Iterator[tuple[str, int]]:
    for name, graph in packages.items():
        if count := len(cyclic(of(graph))):
            yield name, count


def test_packages_have_no_import_cycles(packages: dict[str, Graph]) -> None:
    assert dict(counts(packages, lambda graph: graph)) == {}


def test_folders_have_no_import_cycles(packages: dict[str, Graph]) -> None:
    with_folders = {name: graph for name, graph in packages.items() if any(module.count(".") > 2 for module in graph)}
    assert dict(counts(with_folders, folders)) == {}


def test_cyclic_finds_the_nodes_of_cycles() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"e"}}
    assert cyclic(graph) == {"b", "c", "e"}
    assert cyclic(folders({"p.q.x": {"p.q.y.z"}, "p.q.y.z": {"p.q.y.w"}, "p.q.y.w": {"p.q.x"}})) == {"x", "y"}
