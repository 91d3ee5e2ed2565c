# The daily commands: `uv run just`, or `just` where it is installed, lists them.

_list:
    @just --list

# Run the tests; arguments go to pytest
test *arguments:
    uv run pytest -n auto --dist worksteal {{ arguments }}

# Run the tests with 5,000 generated examples each
test-thorough *arguments:
    HYPOTHESIS_PROFILE=thorough uv run pytest -n auto --dist worksteal {{ arguments }}

# Lint, formatting, types, layers, names of tests, sizes of files and folders: what a commit must pass
check:
    uv run ruff check
    uv run ruff format --check
    uv run mypy
    uv run lint-imports
    uv run pytest -q -n0 tests/workspace tests/core_book/test_pages.py -k 'names_of_tests or few_files or few_lines or reading_list'

# Repair what can be repaired by itself
fix:
    uv run ruff check --fix-only --show-fixes
    uv run ruff format

# Build the site of the documentation: build/site/html/index.html. Needs --group docs
docs *arguments:
    uv run --group docs python -m tools.site {{ arguments }}

# Test packages from their wheels, each alone in a fresh environment
isolation *packages:
    uv run python tools/isolation.py {{ packages }}

# Test the packages with every supported Python, NumPy and jaxlib that this machine can have
matrix *arguments:
    uv run python -m tools.matrix {{ arguments }}

# Everything that is run before a merge
ci:
    .ci/run

# Check every commit; once after cloning
hooks:
    uvx pre-commit install
