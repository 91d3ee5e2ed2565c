"""The site: pages of `docs/`, the files that they link to, the reference, figures and notebooks, built by Sphinx.

`uv run --group docs just docs` builds it. The steps before Sphinx write a folder of sources, in which Sphinx finds
everything, and change only the files whose text is new:

| module | what it writes |
|---|---|
| `pages` | the pages of `docs/`, and a page for each file of the repository that they link to |
| `reference` | a page for each public module, from its docstrings |
| `figures` | the pictures that pages draw |
| `notebooks` | a notebook for each tutorial |
"""
