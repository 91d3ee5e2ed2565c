"""A library is imported only when its adapter is asked for; one that is missing is named with what to install."""

import subprocess
import sys

import pytest

from lawful.laws.systems import find_system

LIBRARIES = ("autograd", "jax", "torch")


@pytest.mark.parametrize("name", LIBRARIES)
def test_find_system_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in list(sys.modules):
        if module == name or module.startswith((f"{name}.", f"lawful.laws.systems.{name}")):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"which is not installed; do `pip install {name}`"):
        find_system(name)


def test_find_system_nothing_is_imported_before_it_is_asked_for() -> None:
    code = f"import sys, lawful.laws; assert not set(sys.modules) & {set(LIBRARIES)!r}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_find_system_another_name_is_an_error() -> None:
    with pytest.raises(ValueError, match="expected one of lawful, jax, autograd, torch, got 'tinygrad'"):
        find_system("tinygrad")
