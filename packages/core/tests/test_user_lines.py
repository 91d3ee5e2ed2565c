"""Every error begins with the user's line: the innermost frame that is neither ours nor NumPy's."""

import builtins
import inspect
import pickle
import threading
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import lawful.core
from lawful.core import (
    LawfulError,
    MissingRuleError,
    NonArrayError,
    SourceLine,
    at_source,
    get_aval,
    register_internal_file,
    register_internal_module,
    source_override,
    user_source,
)


def here() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def test_a_message_begins_with_the_users_line() -> None:
    line = here() + 2
    with pytest.raises(NonArrayError) as caught:
        get_aval("text")
    where = f"{__file__}:{line} (test_a_message_begins_with_the_users_line): array: expected"
    assert str(caught.value).startswith(where)
    source = caught.value.source
    assert source is not None
    assert (source.file, source.line, source.function) == (__file__, line, "test_a_message_begins_with_the_users_line")
    assert repr(source) == f"SourceLine({source})"


def test_the_line_of_a_call_of_several_lines_is_one_of_them() -> None:
    line = here() + 2
    with pytest.raises(NonArrayError) as caught:
        get_aval(
            "text",
        )
    source = caught.value.source
    assert source is not None
    assert line <= source.line <= line + 2


def test_the_innermost_line_counts() -> None:
    def inner() -> Any:
        return get_aval("text")

    with pytest.raises(NonArrayError) as caught:
        inner()
    assert caught.value.source is not None
    assert caught.value.source.function == "inner"


def test_user_source_numpy_that_calls_back_is_not_the_users() -> None:
    def visit(x: Any) -> Any:
        return get_aval(str(x))

    with pytest.raises(NonArrayError) as caught:
        np.vectorize(visit)(np.ones(2))
    assert caught.value.source is not None
    assert caught.value.source.function == "visit"

    found = np.vectorize(lambda x: user_source(), otypes=[object])(np.ones(1))[0]
    assert found.file == __file__


@pytest.mark.parametrize("name", ["lawful_demo", "numpy_extras", "threading_tools", "functools2", "my.lawful.core"])
def test_user_source_users_module_with_a_name_like_ours_is_users(name: str) -> None:
    module = ModuleType(name)
    source = compile("def call(f):\n    return f()\n", f"/somewhere/{name}.py", "exec")
    exec(source, module.__dict__)
    found = module.call(user_source)
    assert found.file == f"/somewhere/{name}.py"


@pytest.mark.parametrize("name", ["scipy.integrate._ivp.base", "pandas.core.construction", "numpy.lib._function"])
def test_user_source_passes_over_array_libraries(name: str) -> None:
    module = ModuleType(name)
    exec(compile("def call(f):\n    return f()\n", f"/site-packages/{name}.py", "exec"), module.__dict__)
    found = module.call(user_source)
    assert found.file == __file__


def test_user_source_code_in_site_packages_is_users() -> None:
    module = ModuleType("scipy_tools.fits")
    exec(compile("def call(f):\n    return f()\n", "/site-packages/scipy_tools/fits.py", "exec"), module.__dict__)
    assert module.call(user_source).file == "/site-packages/scipy_tools/fits.py"


def test_code_without_a_file_has_a_line() -> None:
    namespace: dict[str, Any] = {"__name__": "__main__", "user_source": user_source}
    exec(compile("\n\nfound = user_source()", "<stdin>", "exec"), namespace)
    assert str(namespace["found"]) == "<stdin>:3 (<module>)"


def test_user_source_each_instruction_has_its_line() -> None:
    """Lines are cached by the address of an instruction: those of one function are told apart."""

    def three_lines() -> list[Any]:
        return [user_source(), user_source(),
                user_source(),
                user_source()]  # fmt: skip

    line = three_lines.__code__.co_firstlineno + 1
    for _ in range(2):
        assert [found.line for found in three_lines()] == [line, line, line + 1, line + 2]


def test_at_source_gives_the_recorded_line() -> None:
    """An operation that is replayed has the source line at which it was recorded."""
    recorded = user_source()
    assert isinstance(recorded, SourceLine)
    with at_source(recorded):
        with pytest.raises(NonArrayError) as caught:
            get_aval("text")
        assert str(caught.value).startswith(str(recorded))
        with at_source(None):
            assert user_source() is not recorded
        assert user_source() is recorded
    assert user_source() is not recorded


def test_the_recorded_line_is_restored_after_an_exception() -> None:
    with pytest.raises(ZeroDivisionError), at_source(user_source()):
        raise ZeroDivisionError
    line = here() + 2
    with pytest.raises(NonArrayError) as caught:
        get_aval("text")
    assert f":{line} " in str(caught.value)


def test_the_recorded_line_is_of_one_thread() -> None:
    recorded, found = user_source(), []
    with at_source(recorded):
        thread = threading.Thread(target=lambda: found.append(user_source()))
        thread.start()
        thread.join()
    assert found[0] is not recorded
    assert found[0].file == __file__


def test_user_source_without_a_user() -> None:
    assert exec_in("lawful.made_up") is None


@pytest.mark.parametrize("module", ["usertest_rules", "usertest_rules.of_mine"])
def test_register_internal_module(module: str) -> None:
    """A package that registered itself is skipped, and so are the modules inside it; one of a longer name is not."""
    register_internal_module("usertest_rules")
    found = exec_in(module, user_source_of_caller)
    assert found is not None
    assert found.file == __file__
    longer = exec_in("usertest_rulesets", user_source_of_caller)
    assert longer is not None
    assert longer.file != __file__


def user_source_of_caller(call: Any) -> None:
    call()


def exec_in(module: str, call: Any = None) -> Any:
    """Returns the user's line as a function of a module of this name sees it."""
    namespace: dict[str, Any] = {"__name__": module, "user_source": user_source, "found": []}
    exec(compile("def look():\n    found.append(user_source())", f"<{module}>", "exec"), namespace)
    if call is not None:
        call(namespace["look"])
    else:
        thread = threading.Thread(target=namespace["look"])  # its stack has no line of a test
        thread.start()
        thread.join()
    return namespace["found"][0]


@pytest.mark.parametrize(
    "cls", [x for x in vars(lawful.core).values() if isinstance(x, type) and issubclass(x, LawfulError)]
)
def test_errors_derive_from_lawful_error_and_a_built_in_class(cls: type[LawfulError]) -> None:
    assert cls.__doc__
    if cls is not LawfulError:
        bases = {base for base in cls.__mro__ if getattr(builtins, base.__name__, None) is base}
        assert bases - {Exception, BaseException, object}, "so that `except TypeError` works as in NumPy"


def test_user_source_error_pickles_with_its_message() -> None:
    with pytest.raises(NonArrayError) as caught:
        get_aval("text")
    copied = pickle.loads(pickle.dumps(caught.value))
    assert type(copied) is NonArrayError
    assert str(copied) == str(caught.value)


def test_a_given_line_stands_before_the_running_one() -> None:
    source = user_source()
    assert str(MissingRuleError("text", source=source)) == f"{source}: text"


def test_the_line_of_a_rule_of_the_users_own(counting: SimpleNamespace) -> None:
    def rule(x: Any) -> Any:
        raise NonArrayError("mine")

    primitive = lawful.core.Primitive("coretest_refusing")
    primitive.def_impl(rule)
    with pytest.raises(NonArrayError) as caught:
        primitive.bind(1.0)
    assert str(caught.value) == f"{__file__}:{rule.__code__.co_firstlineno + 1} (rule): mine"


def test_register_internal_module_after_its_line_was_found() -> None:
    module = "usertest_late"
    found = exec_in(module, user_source_of_caller)
    assert found is not None
    assert found.file == f"<{module}>"
    register_internal_module(module)
    found = exec_in(module, user_source_of_caller)
    assert found is not None
    assert found.file == __file__


def test_register_internal_file() -> None:
    register_internal_file("<usertest_file>")
    found = exec_in("usertest_file", user_source_of_caller)
    assert found is not None
    assert found.file == __file__


@pytest.mark.parametrize("modules", [("lawful.made_up", "usertest_mine"), ("usertest_mine", "lawful.made_up")])
def test_user_source_internal_code_of_the_same_file_name(modules: tuple[str, str]) -> None:
    """The methods that dataclasses generate are in a file ``<string>``, as is a program given to ``python -c``."""
    found = {}
    for module in modules:
        namespace: dict[str, Any] = {"__name__": module, "user_source": user_source}
        exec(compile("def look(): return user_source()", f"<string of {modules}>", "exec"), namespace)
        found[module] = namespace["look"]().file
    assert found == {"lawful.made_up": __file__, "usertest_mine": f"<string of {modules}>"}


def test_user_source_is_looked_up_again_where_code_is_replaced() -> None:
    """The address of code that is gone may be that of other code."""
    for i in range(200):
        namespace: dict[str, Any] = {"__name__": f"usertest_{i}", "user_source": user_source}
        exec(compile("\n" * i + "def look(): return user_source()", f"<usertest_{i}>", "exec"), namespace)
        found = namespace["look"]()
        assert (found.file, found.line) == (f"<usertest_{i}>", i + 1)


def test_lines_of_all_threads_are_removed_at_the_end() -> None:
    before = dict(source_override.by_thread)
    with at_source(user_source()), at_source(None):
        assert source_override.source is None
    assert source_override.by_thread == before
