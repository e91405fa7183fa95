"""``/openapi.json``, made from the operations and their types; nothing in it is written by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from .. import __version__
from .api.decisions import Decide
from .api.labels import BatchLabel
from .keys import SCOPES
from .operations import JSON, Operation
from .problems import KINDS, MEDIA, ProblemDocument
from .sessions import COOKIE

#: What any operation with a key, and any with a body, may answer.
ALWAYS = ("unauthenticated", "insufficient-scope", "internal", "overloaded", "not-ready", "outcome-unknown")
WITH_BODY = ("malformed-json", "bad-encoding", "body-too-large", "unsupported-media-type", "validation")
#: Parts of a batch are decoded one by one; this is what each is.
PARTS = {"DecideBatch": ("decisions", Decide), "LabelBatch": ("labels", BatchLabel)}
_TEMPLATE = "#/components/schemas/{name}"


def document(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the description of all operations, OpenAPI 3.1."""
    types: list[Any] = [ProblemDocument, Decide, BatchLabel]
    operations = [operation for operation in operations if operation.described]
    for operation in operations:
        types += [
            *(answer for answer in operation.answers.values() if answer is not None),
            *([] if operation.body is None else [operation.body]),
        ]
    types += [query.type for operation in operations for query in operation.query.values()]
    unique = list({repr(one): one for one in types}.values())
    schemas, components = msgspec.json.schema_components(unique, ref_template=_TEMPLATE)
    refs = {repr(one): schema for one, schema in zip(unique, schemas, strict=True)}
    for name, (field, part) in PARTS.items():
        components[name]["properties"][field]["items"] = refs[repr(part)]
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = described(operation, refs)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "appletaste",
            "version": __version__,
            "description": "Decide which items to act on when the true label is seen only if you act.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A key, at_...; scopes: "
                    + "; ".join(f"{name}: {why}" for name, why in SCOPES.items()),
                },
                "session": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": COOKIE,
                    "description": "A browser that has signed in; whatever is not GET needs X-CSRF-Token, too",
                },
            },
        },
    }


def described(operation: Operation, refs: dict[str, Any]) -> dict[str, Any]:
    """Return one operation."""
    found: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [*in_path(operation), *in_query(operation, refs)],
        "responses": responses(operation, refs),
    }
    if operation.scope is not None:
        found["security"] = [{"key": []}, {"session": []}]
        found["x-scope"] = operation.scope
    if operation.body is not None:
        schema = refs[repr(operation.body)] if operation.takes == JSON else {"type": "string"}
        found["requestBody"] = {"required": True, "content": {operation.takes: {"schema": schema}}}
    return found


def in_path(operation: Operation) -> list[dict[str, Any]]:
    """Return the parameters in the address."""
    names = re.findall(r"{(\w+)}", operation.path)
    schema = {"type": "string", "minLength": 1}
    return [{"name": name, "in": "path", "required": True, "schema": schema} for name in names]


def in_query(operation: Operation, refs: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the query parameters."""
    found = []
    for name, query in operation.query.items():
        schema = dict(refs[repr(query.type)])
        if "anyOf" in schema:  # null is what is left out
            schema = next(one for one in schema["anyOf"] if one != {"type": "null"})
        found.append({"name": name, "in": "query", "required": False, "description": query.help, "schema": schema})
    return found


def responses(operation: Operation, refs: dict[str, Any]) -> dict[str, Any]:
    """Return what an operation may answer, by status."""
    media = operation.media.split(";")[0]
    found: dict[str, Any] = {}
    for status, kind in operation.answers.items():
        if kind is None:
            found[str(status)] = {"description": operation.summary}
            continue
        schema = refs[repr(kind)] if media == JSON else {"type": "string"}
        found[str(status)] = {"description": operation.summary, "content": {media: {"schema": schema}}}
    names = [*operation.problems, "internal", "not-ready", "headers-too-large", "request-timeout"]
    if operation.scope is not None:
        names += ALWAYS if operation.method == "GET" else [*ALWAYS, "csrf"]
    if operation.of_stream:
        names += ["unknown-stream", "bad-encoding"]
    if operation.body is not None:
        names += WITH_BODY
    if operation.path.count("{"):
        names.append("bad-encoding")
    names += ["validation", "bad-encoding"]  # of a query
    problem = {MEDIA: {"schema": refs[repr(ProblemDocument)]}}
    by_status: dict[int, list[str]] = {}
    for name in dict.fromkeys(names):
        by_status.setdefault(KINDS[name].status, []).append(name)
    for status, kinds in sorted(by_status.items()):
        found[str(status)] = {"description": ", ".join(kinds), "content": problem}
    return found
