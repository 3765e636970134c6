"""The app: API and pages over one service."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from tacit.errors import TacitError
from tacit.server.api import keys, models, questions, several, tables
from tacit.server.api.again import Again
from tacit.server.api.shapes import Problem
from tacit.server.door import LARGEST, Door
from tacit.server.pages import routes as pages
from tacit.server.pool import Busy
from tacit.server.problems import FAULT, PROBLEM, Refused, problem, problem_of
from tacit.server.served_table import Cancelled
from tacit.version import VERSION

if TYPE_CHECKING:
    from tacit.server.service import Service

__all__ = ["make_app"]

_REFUSALS = (400, 401, 402, 403, 404, 409, 410, 413, 421, 422, 423, 429, 501, 503)
_OTHER = {
    400: ("unreadable", "This cannot be read as JSON in UTF-8."),
    404: ("unknown-path", "There is nothing at this path: /v1/openapi.json says what there is."),
    405: ("not-allowed", "This path does not take this method: /v1/openapi.json says which it takes."),
    413: ("too-large", f"A request has at most {LARGEST:,} bytes."),
}
_NO_JSON = "Send a JSON object, with Content-Type: application/json"


def make_app(service: Service) -> Any:
    """The whole of it, as ASGI."""

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    app = _App(
        title="Tacit",
        version=VERSION,
        description="Private answers about tables, paid for before they are drawn.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        openapi_url="/v1/openapi.json",
        lifespan=running,
        responses={
            status: {"model": Problem, "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
            for status in _REFUSALS
        },
    )
    app.state.service = service
    for part in (tables.router, questions.router, several.router, models.router, keys.router):
        app.include_router(part, prefix="/v1")
    app.include_router(pages.router)
    _handle(app)
    _describe(app)
    app.door = Door(Again(app.without_door, service), service)
    return app


class _App(FastAPI):
    """The app behind its door: nothing of it is reached by another way."""

    door: Door

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.door(scope, receive, send)

    async def without_door(self, scope: Any, receive: Any, send: Any) -> None:
        """What is behind it."""
        await super().__call__(scope, receive, send)


def _handle(app: FastAPI) -> None:
    @app.exception_handler(TacitError)
    async def refused(request: Request, error: TacitError) -> Response:
        return _told(request, problem_of(error))

    @app.exception_handler(Exception)
    async def fault(request: Request, error: Exception) -> Response:
        return _told(request, FAULT)  # and raised on, to be noted at the door

    @app.exception_handler(Refused)
    async def at_the_door(request: Request, error: Refused) -> Response:
        return _told(request, problem(error.status, error.code, error.detail), error.headers)

    @app.exception_handler(pages.SIGN_IN)
    async def stranger(request: Request, error: Exception) -> Response:
        return pages.sign_in_page()

    @app.exception_handler(Busy)
    async def busy(request: Request, error: Busy) -> Response:
        text = "Too many requests are waiting. Nothing was spent; ask again in a moment."
        return _told(request, problem(429, "busy", text), {"Retry-After": "2"})

    @app.exception_handler(Cancelled)
    async def cancelled(request: Request, error: Cancelled) -> Response:
        return _told(
            request, problem(410, "cancelled", "The request was taken back before it was paid. Nothing was spent.")
        )

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        code, text = _OTHER.get(error.status_code, ("refused", f"{error.detail}."))
        return _told(request, problem(error.status_code, code, f"{text} Nothing was spent."), dict(error.headers or {}))

    @app.exception_handler(RequestValidationError)
    async def unreadable(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first.get("loc", ()) if not isinstance(part, int))
        wrong = _NO_JSON if place == "body" else f"{place}: {first.get('msg', '')}"
        return _told(request, problem(422, "unreadable", f"{wrong}. Nothing was spent."))


def _told(request: Request, document: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
    """As a page to who looks at pages."""
    if pages.wants_page(request):
        return pages.told_page(request, document)
    return JSONResponse(document, document["status"], headers=headers, media_type=PROBLEM)


def _describe(app: FastAPI) -> None:
    """OpenAPI with what an answer is: the schema of disclosures."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = made()
            parts = document.setdefault("components", {}).setdefault("schemas", {})
            text = (Path(__file__).parent / "disclosure.schema.json").read_text(encoding="utf-8")
            schema = json.loads(text.replace("#/$defs/", "#/components/schemas/Disclosure_"))
            parts |= {f"Disclosure_{name}": one for name, one in schema.pop("$defs", {}).items()}
            schema.pop("$schema", None)
            parts["Disclosure"] = schema
            document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
            for path, methods in document["paths"].items():
                for method, one in methods.items():
                    one["security"] = [] if path == "/v1/health" else [{"key": []}]
                    if path.endswith("/answers") and method == "post":
                        content = {"application/json": {"schema": {"$ref": "#/components/schemas/Disclosure"}}}
                        one["responses"]["200"]["content"] = content
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
