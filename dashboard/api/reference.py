"""A page to read the specification on: ours, since FastAPI's loads scripts from another host."""

from __future__ import annotations

from html import escape
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.responses import HTMLResponse

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1f2430 }}
h2 {{ font: 600 1.1rem ui-monospace, monospace; margin: 2rem 0 .25rem }} p {{ margin: .25rem 0 }}
td {{ padding: .15rem 1rem .15rem 0; vertical-align: top }}
code, td:first-child {{ font-family: ui-monospace, monospace }}
.kind {{ color: #5a6070 }}</style>
<h1>{title}</h1><p>{about} Version {version}. The specification: <a href="openapi.json">openapi.json</a>.</p>
<p>Send <code>Authorization: Bearer TOKEN</code>; <code>tenor account token NAME</code> makes one.</p>{endpoints}</html>
"""


def reference_routes(app: FastAPI) -> APIRouter:
    made = APIRouter()

    @made.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        document = app.openapi()
        info = document["info"]
        endpoints = "".join(_endpoint(path, methods) for path, methods in document["paths"].items())
        about = {"title": info["title"], "about": info["description"], "version": info["version"]}
        return HTMLResponse(PAGE.format(**{name: escape(text) for name, text in about.items()}, endpoints=endpoints))

    return made


def _endpoint(path: str, methods: dict[str, Any]) -> str:
    return "".join(_operation(method.upper(), path, operation) for method, operation in methods.items())


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td>{escape(one['name'])}</td><td class=kind>{escape(_kind(one['schema']))}</td>"
        f"<td>{escape(one.get('description', one['schema'].get('description', '')))}</td></tr>"
        for one in operation.get("parameters", ())
    )
    return f"<h2>{method} {escape(path)}</h2><p>{escape(operation.get('description', ''))}</p><table>{rows}</table>"


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    kinds = [one.get("type", "") for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    return str(schema.get("type", " or ".join(kinds)))
