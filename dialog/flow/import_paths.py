"""Classes of an author's own, `package.module:Class`: whether there is one, found out without running its module."""

from __future__ import annotations

import ast
import importlib.machinery
from pathlib import Path


def import_fault(path: str) -> str | None:
    """Why a class cannot be there; None if it probably is."""
    module, _, name = path.partition(":")
    spec = _spec(module)
    if spec is None:
        return f"there is no module {module!r} on Python's path"
    if spec.origin is None or not spec.origin.endswith(".py"):
        return None
    names = _names(spec.origin)
    if names is not None and name not in names:
        return f"there is no {name!r} in module {module!r}"
    return None


def _spec(module: str) -> importlib.machinery.ModuleSpec | None:
    spec: importlib.machinery.ModuleSpec | None = None
    folders: list[str] | None = None
    whole = ""
    for part in module.split("."):
        whole = f"{whole}.{part}" if whole else part
        try:
            spec = importlib.machinery.PathFinder.find_spec(whole, folders)
        except (ImportError, ValueError):
            return None
        if spec is None:
            return None
        folders = list(spec.submodule_search_locations or [])
    return spec


def _names(file: str) -> set[str] | None:
    """What a module's top level defines; None when that cannot be told."""
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            if any(alias.name == "*" for alias in node.names):
                return None
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.If | ast.Try):
            return None
    return found
