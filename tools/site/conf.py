"""Sphinx' configuration for the site. Nothing here is loaded from the network."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

project = "lawful"
author = "lawful developers"
release = version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

extensions = ["myst_parser", "sphinx.ext.viewcode", "sphinx_copybutton", "tools.site.extension"]
exclude_patterns: list[str] = []
nitpicky = True
# A single backtick in a docstring names an object.
default_role = "py:obj"
add_module_names = False
# A table at the top of each module lists its names; in the sidebar of every page they would be thousands.
toc_object_entries = False
python_maximum_signature_line_length = 100
viewcode_line_numbers = True

# Anchors are made as GitHub makes them, and `tests/pages/test_pages.py` checks them.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
highlight_language = "text"

html_theme = "furo"
html_title = "lawful"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
# Summaries are fetched, which a browser refuses for files.
html_show_search_summary = False
html_show_copyright = False
html_show_sphinx = False
html_permalinks_icon = "#"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

# Prompts and results of examples are not copied.
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
