"""Where the pages are, and what their forms do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from tacit.errors import TacitError
from tacit.report.markup import Html, element, join
from tacit.server.api.callers import COOKIE, caller_of, refuse_other_origin, service_of
from tacit.server.api.questions import Entry, answered, disclosures, job_of, planned, result_of, started
from tacit.server.api.shapes import Asked, Capped, Planned
from tacit.server.api.tables import budget_of, cap_of, log_of
from tacit.server.jobs import Job
from tacit.server.keys import Key
from tacit.server.pages import ask, books, learn
from tacit.server.pages.frame import STYLE_SHEET, page, refused
from tacit.server.pool import Busy
from tacit.server.problems import Refused, problem, problem_of
from tacit.server.roles import Act

__all__ = ["SIGN_IN", "router", "sign_in_page", "told_page", "wants_page"]

router = APIRouter(include_in_schema=False)
_STATIC = Path(__file__).parent.parent / "static"
_KINDS = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
_NOTHING = Html("")
_LONG = {"Cache-Control": "public, max-age=3600"}


async def fields(request: Request) -> dict[str, str]:
    """What a form says; the last of each name."""
    try:
        body = (await request.body()).decode()
    except UnicodeDecodeError:
        raise Refused(400, "unreadable", "This cannot be read as UTF-8. Nothing was spent.") from None
    return {name: values[-1] for name, values in parse_qs(body, keep_blank_values=True, max_num_fields=50).items()}


Fields = Annotated[dict[str, str], Depends(fields)]


def signed_in(request: Request) -> Key:
    """Whose page it is; a browser without a cookie is shown where to sign in."""
    if request.headers.get("authorization") is None and request.cookies.get(COOKIE) is None:
        raise _SignIn
    try:
        return caller_of(request)
    except Refused as refusal:
        if refusal.status == 401:
            raise _SignIn from None
        raise


class _SignIn(Exception):
    pass


Visitor = Annotated[Key, Depends(signed_in)]


def told_page(request: Request, document: dict[str, Any]) -> Response:
    """A refusal as a page."""
    return page(document["title"], refused(document["title"], document["detail"]), status=document["status"])


def wants_page(request: Request) -> bool:
    """Whether a browser asked for a page: the API is asked by programs."""
    return not request.url.path.startswith("/v1")


@router.get("/static/{name}")
def static(name: str) -> Response:
    """Our own scripts and styles; nothing is loaded from anywhere else."""
    if name == "report.css":
        return Response(STYLE_SHEET, media_type=_KINDS[".css"], headers=_LONG)
    path = _STATIC / name
    if name not in ("page.js", "page.css", "editor.js", "editor.LICENSE.txt") or not path.is_file():
        raise Refused(404, "unknown-path", "There is no such file.")
    return Response(path.read_bytes(), media_type=_KINDS[path.suffix], headers=_LONG)


def sign_in_page(status: int = 200, said: str = "") -> HTMLResponse:
    """Where a key is typed."""
    form = element(
        "form",
        element("label", "Your key", for_="key"),
        element("input", name="username", autocomplete="username", value="Tacit", hidden=""),
        element("input", id="key", name="key", type="password", autocomplete="current-password", required="", size=48),
        element("div", element("button", "Sign in", class_="main"), class_="row"),
        element("p", "The owner of the service makes keys. It begins with tacit_.", class_="note"),
        method="post",
        action="/sign-in",
    )
    told = [refused("This key is not valid", said)] if said else []
    return page("Sign in", *told, form, status=status)


@router.post("/sign-in")
def sign_in(request: Request, given: Fields) -> Response:
    """A cookie for a key."""
    refuse_other_origin(request)
    service = service_of(request)
    key = service.keys.known(given.get("key", "").strip())
    if key is None:
        host = request.client.host if request.client else ""
        if service.strangers.wait(host) > 0:
            return sign_in_page(429, "Too many tries: wait a minute.")
        return sign_in_page(401, "It may have been revoked, or have ended. Ask the owner for another.")
    reply = RedirectResponse("/", 303)
    token = service.keys.sign_in(key)
    secure = service.settings.secure
    reply.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=secure, max_age=12 * 3600, path="/")
    return reply


@router.post("/sign-out")
def sign_out(request: Request) -> Response:
    """Forget the cookie."""
    refuse_other_origin(request)
    service_of(request).keys.sign_out(request.cookies.get(COOKIE, ""))
    reply = RedirectResponse("/", 303)
    reply.delete_cookie(COOKIE, path="/")
    return reply


@router.get("/")
def home(request: Request, key: Visitor) -> Response:
    """The tables; of one alone, the page to ask on."""
    service = service_of(request)
    names = [name for name in service.served_tables if key.may(Act.LOOK, name)]
    if len(names) == 1 and key.may(Act.ASK):
        return RedirectResponse(f"/tables/{names[0]}", 303)
    links = [element("li", element("a", name, href=f"/tables/{name}")) for name in names]
    return page("Tables", element("ul", *links), key=key, twin="/v1/tables", at="/")


@router.get("/tables/{table}")
def asking(request: Request, table: str, key: Visitor, sql: str = "", price: str = "") -> Response:
    """The page to ask on."""
    served = service_of(request).served(key, table, Act.LOOK)
    return _asking(request, key, table, sql or ask.examples(served.table.policy)[:2][-1], price)


def _asking(
    request: Request,
    key: Key,
    table: str,
    sql: str,
    price: str,
    about: Html = _NOTHING,
    status: int = 200,
    rows: str = "",
) -> Response:
    served = service_of(request).served(key, table, Act.LOOK)
    flavour = served.table.policy.terms.flavour
    shown = price or ("0.1" if flavour.name == "epsilon" else "0.005")
    mine = [one for one in log_of(served, key) if one.get("analyst") == key.name]
    below = (
        element("section", element("h2", "Asked before"), books.history(table, mine, flavour.symbol))
        if mine
        else _NOTHING
    )
    parts = ask.asking(served, sql, shown, rows, about, below, may_ask=key.may(Act.ASK))
    twin = f"/v1/tables/{table}"
    return page(
        f"Ask {table}", *parts, key=key, table=table, twin=twin, status=status, editor=True, at=f"/tables/{table}"
    )


def _priced(flavour: str, given: dict[str, str]) -> dict[str, Any]:
    return {"sql": given.get("sql", "") or " ", flavour: given.get("price", "") or None}


@router.post("/tables/{table}/price")
def price(request: Request, table: str, given: Fields, key: Visitor) -> Response:
    """The price of what is in the form, as a part of the page."""
    served = service_of(request).served(key, table, Act.LOOK)
    return HTMLResponse(_price(request, key, table, served.table.policy.terms.flavour.name, given)[0])


def _price(request: Request, key: Key, table: str, flavour: str, given: dict[str, str]) -> tuple[Html, int]:
    try:
        body = Planned(**_priced(flavour, given), expected_rows=given.get("rows") or None, curve=True)  # type: ignore[arg-type]
        return ask.price_card(planned(service_of(request).served(key, table, Act.LOOK), key, body)), 200
    except TacitError as error:
        told = problem_of(error)
        return refused(told["title"], told["detail"]), told["status"]
    except ValueError:
        return refused("This cannot be read", "A question and a price are needed. Nothing was spent."), 422


@router.post("/tables/{table}")
async def asked(request: Request, table: str, given: Fields, key: Visitor) -> Response:
    """The form without a script: price, practice, or, once it was confirmed, the answer."""
    service = service_of(request)
    served = await run_in_threadpool(service.served, key, table, Act.LOOK)
    flavour, act = served.table.policy.terms.flavour.name, given.get("act", "plan")
    sql, typed = given.get("sql", ""), given.get("price", "")

    async def shown(about: Html, status: int = 200) -> Response:
        return await run_in_threadpool(_asking, request, key, table, sql, typed, about, status, given.get("rows", ""))

    try:
        body = Asked(**_priced(flavour, given))
        if act == "practise":
            answer = await run_in_threadpool(lambda: service.practices[table].ask(body.sql, **body.price()))
            return await shown(ask.made_up(answer.disclosure()))
        if act == "run" and given.get("sure") == "yes":
            return await _run(request, key, table, body)
        if act == "run":
            service.allow(key, Act.ASK)
            stored = await run_in_threadpool(lambda: served.of(key.name).query(body.sql).recall(**body.price()))
            if stored is not None:
                return RedirectResponse(f"/tables/{table}/answers/{stored.receipt.number}", 303)
            plan = await run_in_threadpool(planned, served, key, Planned(**body.model_dump()))
            if not plan["affordable"]:
                text = "Your account does not allow this price; nothing was spent. A smaller one may fit."
                return await shown(join(refused("The budget does not allow it", text), ask.price_card(plan)), 402)
            return await shown(ask.confirming(served, sql, typed, plan))
    except TacitError as error:
        told = problem_of(error)
        return await shown(refused(told["title"], told["detail"]), told["status"])
    except Busy:
        return await shown(refused("Too much at once", "Nothing was spent; ask again in a moment."), 429)
    except ValueError:
        return await shown(refused("This cannot be read", "A question and a price are needed. Nothing was spent."), 422)
    card, status = await run_in_threadpool(_price, request, key, table, flavour, given)
    return await shown(card, status)


async def _run(request: Request, key: Key, table: str, body: Asked) -> Response:
    service = service_of(request)
    found = await run_in_threadpool(started, service, key, table, body, None)
    if isinstance(found, Job):
        if not await answered(found, service.settings.wait):
            return RedirectResponse(f"/tables/{table}/requests/{found.id}", 303)
        found = result_of(found)
    return RedirectResponse(f"/tables/{table}/answers/{found.number}", 303)


@router.get("/tables/{table}/requests/{request_id}")
def waiting(request: Request, table: str, request_id: str, key: Visitor) -> Response:
    """A request that takes longer: looked at again by itself."""
    job = job_of(request_id, service_of(request), key)
    if job.done.is_set():
        return RedirectResponse(f"/tables/{table}/answers/{result_of(job).number}", 303)
    told = job.to_dict()
    return page(
        "Being drawn",
        element("p", f"{told['state']}, {told['seconds']} s so far. This page looks again by itself.", role="status"),
        key=key,
        table=table,
        twin=f"/v1/requests/{request_id}",
        refresh=f"/tables/{table}/requests/{request_id}",
    )


@router.get("/tables/{table}/answers/{number}")
def answer(request: Request, table: str, number: Entry, key: Visitor) -> Response:
    """An answer that was given."""
    service = service_of(request)
    found = disclosures(service, key, table, number)
    where = f"{request.url.scheme}://{request.headers['host']}"
    parts = [part for one in found for part in ask.answer_parts_of(one, where=where)]
    links = element(
        "p",
        element("a", "The whole disclosure", href=f"/v1/tables/{table}/answers/{number}/report"),
        " · ",
        element("a", "Ask something else", href=f"/tables/{table}"),
    )
    twin = f"/v1/tables/{table}/answers/{number}"
    return page(f"Answer #{number} about {table}", *parts, links, key=key, table=table, twin=twin)


@router.get("/tables/{table}/budget")
def budget(request: Request, table: str, key: Visitor) -> Response:
    """Mine and all."""
    served = service_of(request).served(key, table, Act.LOOK)
    parts = books.budget_parts(served, budget_of(served, key), log_of(served, key))
    at = f"/tables/{table}/budget"
    return page(f"Budget of {table}", *parts, key=key, table=table, twin=f"/v1{at}", at=at)


@router.get("/learn")
def learning(key: Visitor, epsilon: str = "0.5", zeros: str = "6", sensitivity: str = "1") -> Response:
    """What the words mean."""
    return page("Learn", *learn.learn_parts(*learn.settings_of(epsilon, zeros, sensitivity)), key=key, at="/learn")


@router.post("/learn/pictures")
def learned(given: Fields, key: Visitor) -> Response:
    """The pictures at other settings, as a part of the page."""
    said = [given.get(name, "") for name in ("epsilon", "zeros", "sensitivity")]
    return HTMLResponse(join(*learn.pictures(*learn.settings_of(*said))))


@router.get("/owner")
def owner(request: Request, key: Visitor) -> Response:
    """What an owner sees to."""
    return _owner(request, key)


def _owner(
    request: Request, key: Key, new_key: str | None = None, told: Html = _NOTHING, status: int = 200
) -> Response:
    service = service_of(request)
    service.allow(key, Act.MANAGE)
    return page(
        "Owner", told, *books.owner_parts(service, key, new_key), key=key, twin="/v1/keys", status=status, at="/owner"
    )


def _done(request: Request, key: Key, act: Callable[[], object]) -> Response:
    """An act of the owner, and the page again; what is refused is told there."""
    service_of(request).allow(key, Act.MANAGE)
    try:
        made = act()
    except (TacitError, ValueError) as error:
        document = (
            problem_of(error) if isinstance(error, TacitError) else problem(422, "unreadable", "A field is wrong.")
        )
        return _owner(request, key, told=refused(document["title"], document["detail"]), status=document["status"])
    return _owner(request, key, str(made)) if isinstance(made, str) else RedirectResponse("/owner", 303)


@router.post("/owner/keys")
def new_key(request: Request, given: Fields, key: Visitor) -> Response:
    """A new key, shown once."""
    service = service_of(request)
    days = given.get("days", "").strip()
    return _done(
        request,
        key,
        lambda: service.make_key(
            key,
            given.get("name", ""),
            given.get("role", ""),
            None if key.tables is None else list(key.tables),
            float(days) if days else None,
        )[1],
    )


@router.post("/owner/keys/{key_id}/revoke")
def revoke(request: Request, key_id: str, key: Visitor) -> Response:
    """End a key."""
    return _done(request, key, lambda: service_of(request).revoke_key(key, key_id))


@router.post("/owner/{table}/cap")
def cap(request: Request, table: str, given: Fields, key: Visitor) -> Response:
    """An analyst's cap."""
    served = service_of(request).served(key, table, Act.MANAGE)
    flavour = served.table.policy.terms.flavour.name

    def act() -> object:
        asked = Capped(
            **{flavour: given.get("main") or None},
            delta=served.table.policy.terms.cap.texts()[1],
            reason=given.get("reason", ""),
        )
        return served.set_cap(given.get("analyst", ""), cap_of(served, asked), key.name, asked.reason)

    return _done(request, key, act)


@router.post("/owner/{table}/unlock")
def unlock(request: Request, table: str, given: Fields, key: Visitor) -> Response:
    """An analyst's account."""
    served = service_of(request).served(key, table, Act.MANAGE)
    name, why = given.get("analyst", ""), given.get("reason", "")
    return _done(request, key, lambda: served.ledger.unlock(name, owner=key.name, reason=why))


@router.post("/owner/{table}/restored")
def restored(request: Request, table: str, given: Fields, key: Visitor) -> Response:
    """An older ledger."""
    served = service_of(request).served(key, table, Act.MANAGE)
    return _done(request, key, lambda: served.sign_off(key.name, given.get("reason", "")))


SIGN_IN = _SignIn
