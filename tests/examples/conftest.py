"""The examples, imported as Python imports them when they are run."""

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def example(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """The example that a test module has the name of."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLES)
        yield importlib.import_module(request.path.stem.removeprefix("test_"))


@pytest.fixture
def run(example: ModuleType, tmp_path: Path) -> Callable[..., int]:
    """Runs the example with options, sees that it draws a picture, and gives its exit status."""

    def run(*options: object) -> int:
        picture = tmp_path / "pictures" / "picture.png"
        status = example.main([*map(str, options), "--output", str(picture)])
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size > 20_000
        assert isinstance(status, int)
        return status

    return run
