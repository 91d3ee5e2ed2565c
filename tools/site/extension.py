"""The site's own extension of Sphinx: links to objects by their names, and to their sources."""

import builtins
import hashlib
import inspect
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import desc_signature, pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from tools.site.reference.names import home, public_modules
from tools.site.reference.sources import definition_of, definitions, modules


def setup(app: Sphinx) -> dict[str, Any]:
    # Pages that an earlier version of these tools read are read again.
    tools = sorted(Path(__file__).parent.rglob("*.py"))
    version = hashlib.sha256(b"".join(path.read_bytes() for path in tools)).hexdigest()
    app.add_config_value("lawful_tools", version, "env", types=[str])
    app.connect("missing-reference", _resolve)
    app.connect("doctree-read", _link_types)
    app.connect("doctree-read", _keep_options_whole)
    app.connect("viewcode-follow-imported", _defining_module)
    app.connect("viewcode-find-source", _source)
    app.connect("html-page-context", _without_back_links)
    app.connect("html-page-context", _with_short_navigation, priority=400)  # before the theme asks for it
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Node) -> nodes.Node | None:
    """Resolves a name as a docstring writes it: a public name of any package, a name of Python, or an argument."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    first, _, rest = target.partition(".")
    if hasattr(builtins, first):
        return content
    candidates = [target] if target in home() else _by_name().get(first, ())
    for full in candidates:
        described = home()[full].full
        name = f"{described}.{rest}" if rest and full != target else described
        found = env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, "obj", name, node, content)
        if found is not None:
            return found
    # A public name that is another library's is described there.
    return content if candidates and not rest else None


def _link_types(app: Sphinx, tree: nodes.document) -> None:
    """Links the types in signatures that are public names; others are private, or those of Python and NumPy."""
    for signature in tree.findall(desc_signature):
        for node in list(signature.findall(pending_xref)):
            name = node["reftarget"].rpartition(".")[2]
            described = None if hasattr(builtins, name) else home().get(_by_name().get(name, [""])[0])
            if described is not None and inspect.isclass(described.value) and described.has_entry:
                node["reftarget"], node["reftype"] = described.full, "obj"
            else:
                node.replace_self(node.children)


def _keep_options_whole(app: Sphinx, tree: nodes.document) -> None:
    """Marks names of options: a browser would end a line after the first hyphen of one."""
    for node in tree.findall(nodes.literal):
        if node.astext().startswith("--") and " " not in node.astext():
            node["classes"].append("option")


_names: dict[str, list[str]] = {}


def _by_name() -> dict[str, list[str]]:
    """Returns the full names for each public name, the lowest package first."""
    if not _names:
        for listed in public_modules().values():
            for name in listed:
                _names.setdefault(name.name, []).append(name.full)
    return _names


def _defining_module(app: Sphinx, module: str, name: str) -> str | None:
    """Returns the module in whose text an object is defined, for the link to its source."""
    first = name.partition(".")[0]
    if module in modules() and hasattr(modules()[module], first):
        found = definition_of(getattr(modules()[module], first), first)
        if found is not None:
            return found.module
    return None


def _source(app: Sphinx, module: str) -> tuple[str, dict[str, tuple[str, int, int]]] | None:
    """Returns the text of a module and the lines of its definitions, of which Sphinx itself sees no assignments."""
    if module not in modules():
        return None
    text = Path(modules()[module].__file__ or "").read_text(encoding="utf-8")
    return text, {name: ("def", found.first, found.last) for name, found in definitions(module).items()}


def _with_short_navigation(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Opens only the branch of the page in the sidebar: the whole tree would take half of the time of a build."""
    toctree = context.get("toctree")
    if toctree is not None:
        context["toctree"] = lambda **options: toctree(**{**options, "collapse": True})


def _without_back_links(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Takes the links back from a source: they name one public module for all of a file, also where it has two."""
    if page.startswith("_modules/lawful"):
        context["body"] = re.sub(r'<a class="viewcode-back"[^>]*>.*?</a>', "", context["body"])
