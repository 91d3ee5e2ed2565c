"""A part of a package is imported when a name of it is first asked for."""

import gc
import importlib
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lawful.core import Primitive, Trace, current, load_lazy_imports, parse_jaxpr, set_current

Make = Callable[..., ModuleType]

PACKAGE = """
from lawful.core import lazy_imports
from {name}._first import one

__getattr__, __dir__ = lazy_imports(__name__, "_later", "_last")
__all__ = ["five", "four", "one", "three", "two"]
"""
FIRST = "one = 1"
LATER = """
from {name} import _last
two, three, hidden, one = 2, 3, 0, "not this one"
"""
LAST = "four, two = 4, 'of the first of them'"


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Makes a package, and imports it; afterwards nothing of it waits any more."""
    monkeypatch.syspath_prepend(tmp_path)
    made: list[str] = []

    def make(package: str = PACKAGE, **modules: str) -> ModuleType:
        name = f"lazy_imports_{tmp_path.name}_{len(made)}"
        made.append(name)
        (tmp_path / name).mkdir()
        sources = {"__init__": package, "_first": FIRST, "_later": LATER, "_last": LAST, **modules}
        for module, source in sources.items():
            text = textwrap.dedent(source).replace("{name}", name)
            (tmp_path / name / f"{module}.py").write_text(text)
        return importlib.import_module(name)

    yield make
    load_lazy_imports()
    for module in list(sys.modules):
        if module.startswith(tuple(made)):
            del sys.modules[module]


def is_there(package: ModuleType, module: str = "_later") -> bool:
    return f"{package.__name__}.{module}" in sys.modules


def test_lazy_import_what_is_there_imports_nothing(make: Make) -> None:
    package = make()
    assert package.one == 1
    assert not hasattr(package, "_private")
    assert not hasattr(package, "__wrapped__")
    assert not is_there(package)


def test_lazy_import_name_that_is_not_there_imports_the_rest(make: Make) -> None:
    package = make()
    assert package.three == 3
    assert is_there(package)
    assert vars(package)["four"] == 4
    assert package.two == 2
    assert not hasattr(package, "hidden")
    assert package.one == 1


def test_lazy_import_so_does_each_way_of_asking(make: Make) -> None:
    package = make()
    assert {"one", "two", "three", "four"} <= set(dir(package))
    package = make()
    scope: dict[str, Any] = {}
    exec(f"from {package.__name__} import three", scope)
    assert scope["three"] == 3
    package = make(PACKAGE.replace('"five", ', ""))
    exec(f"from {package.__name__} import *", scope)
    assert scope["four"] == 4
    package = make()
    load_lazy_imports()
    assert is_there(package)


def test_lazy_import_package_without_all_gets_of_first_module(make: Make) -> None:
    package = make(PACKAGE.rpartition("__all__")[0], _later="__all__ = ['two']\ntwo, three = 2, 3")
    assert package.__all__ == ["two"]
    assert package.two == 2
    assert not hasattr(package, "three")


def test_lazy_import_module_of_rest_may_be_imported_by_its_name(make: Make) -> None:
    package = make(
        PACKAGE.rpartition("__all__")[0], _later="from {name} import _last, sub\n__all__ = ['two']\ntwo = 2", sub=""
    )
    importlib.import_module(f"{package.__name__}._later")
    assert package.two == 2
    assert package.__all__ == ["two"]


def test_lazy_import_name_that_is_nowhere_is_reported(make: Make) -> None:
    package = make()
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'six'"):
        package.six  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'six'"):
        exec(f"from {package.__name__} import six")


def test_lazy_import_package_may_say_more_of_name_nowhere(make: Make) -> None:
    own = PACKAGE.replace('"_last")', '"_last", missing=lambda x: AttributeError(x + " was left out"))')
    package = make(own)
    with pytest.raises(AttributeError, match="six was left out"):
        package.six  # noqa: B018
    package = make(own, _later="(0).nothing")
    with pytest.raises(AttributeError, match="'int' object has no attribute 'nothing'"):
        package.two  # noqa: B018
    sys.modules[f"{package.__name__}._later"] = ModuleType("mended")


def test_lazy_import_module_that_fails_is_tried_again(make: Make) -> None:
    package = make(_later="import sys\nif 'is_mended' not in sys.modules: raise OSError('not there yet')\ntwo = 2")
    with pytest.raises(OSError, match="not there yet"):
        package.two  # noqa: B018
    with pytest.raises(OSError, match="not there yet"):
        load_lazy_imports()
    sys.modules["is_mended"] = package
    try:
        assert package.two == 2
    finally:
        del sys.modules["is_mended"]


def test_lazy_import_runs_outside_of_transformations(make: Make) -> None:
    package = make(_later="from lawful.core import current\ntwo = current.trace")

    class Refusing(Trace):
        def process_primitive(self, primitive: Any, args: Any, params: Any) -> Any:
            raise AssertionError

    trace = Refusing(current.trace, "refusing")
    with set_current(trace):
        assert package.two is not trace
        assert current.trace is trace


@pytest.mark.parametrize(
    "ask", ["from {name} import five", "from lawful.core import load_lazy_imports; load_lazy_imports()"]
)
def test_lazy_import_during_an_import_sees_whole_modules(make: Make, ask: str) -> None:
    package = make(_later=f"two = 'early'\ntry: {ask}\nexcept ImportError: pass\ntwo, three = 2, 3")
    assert package.three == 3
    assert package.two == 2


def test_lazy_import_threads_that_ask_at_once_all_get_it(make: Make) -> None:
    package = make(_later="import time\ntime.sleep(0.1)\ntwo, three = 2, 3")
    barrier, found = threading.Barrier(8), []

    def ask(name: str) -> None:
        barrier.wait()
        found.append(getattr(package, name))

    threads = [threading.Thread(target=ask, args=(name,)) for name in ("two", "three", "four", "one") * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [1, 1, 2, 2, 3, 3, 4, 4]


def test_lazy_import_primitive_of_the_rest_is_found_by_name(make: Make) -> None:
    make(_later="from lawful.core import Primitive\ntwo = Primitive('of_the_rest')\ntwo.def_abstract_eval(lambda x: x)")
    [eqn] = parse_jaxpr("{ lambda ; a:f64[]. let b:f64[] = of_the_rest a in (b,) }").eqns
    assert isinstance(eqn.primitive, Primitive)


def test_lazy_import_collector_waits_while_modules_are_imported(make: Make) -> None:
    def asked() -> bool:
        enabled: bool = make(_later="import gc\ntwo = gc.isenabled()").two
        return enabled

    assert gc.isenabled()
    assert not asked()
    assert gc.isenabled()
    gc.disable()
    try:
        assert not asked()
        assert not gc.isenabled()
    finally:
        gc.enable()
    once = "import {name}\nif '_tried' not in vars({name}):\n    {name}._tried = 1\n    raise OSError('no')"
    with pytest.raises(OSError, match="no"):
        getattr(make(_later=once), "two")  # noqa: B009
    assert gc.isenabled()
