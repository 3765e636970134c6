"""A small table at a service of this process, asked without a port."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from tacit.server.app import make_app
from tacit.server.roles import Role
from tacit.server.service import Service
from tacit.server.settings import Settings

T = TypeVar("T")
POLICY = """\
version = 1
source = "visits.csv"
table = "visits"
unit = "who"

[budget]
epsilon = 3
delta = 1e-8
strikes = 5

[columns]
who   = { type = "integer", role = "identifier" }
plan  = { type = "text", role = "public", keys = ["free", "pro"] }
spend = { type = "real", role = "private", bounds = [0, 100] }
city  = { type = "text", role = "private" }
iban  = { type = "text", role = "forbidden" }
"""
COUNT = "SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan"


def write_table(folder: Path, rows: int = 40) -> Path:
    """The table and its policy."""
    lines = [f"{n},{('free', 'pro')[n % 2]},{n % 90},Lund,SE{n}\n" for n in range(rows)]
    (folder / "visits.csv").write_text("who,plan,spend,city,iban\n" + "".join(lines), encoding="utf-8")
    (folder / "visits.toml").write_text(POLICY, encoding="utf-8")
    return folder / "visits.toml"


class Served:
    """A service, and clients of each role."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.app = make_app(service)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._http = httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url="http://127.0.0.1:8417")
        self.owner = self.key("owner", Role.OWNER)
        self.ada = self.key("ada", Role.ANALYST)
        self.auditor = self.key("audrey", Role.AUDITOR)

    def key(self, name: str, role: Role, **more: Any) -> str:
        """The text of a new key."""
        return self.service.keys.make(name, role, **more)[1]

    def call(self, key: str | None, method: str, path: str, **more: Any) -> httpx.Response:
        """One request with a key."""
        headers = {**({} if key is None else {"Authorization": f"Bearer {key}"}), **more.pop("headers", {})}
        return self.wait(self.send(method, path, headers=headers, **more))

    async def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        """One request, to be waited for."""
        return await self._http.request(method, path, **more)

    def stop_clocks(self) -> None:
        """Nobody may ask more often because the machine is slow."""
        self.service.rates._clock = self.service.strangers._clock = lambda: 0.0

    def wait(self, what: Coroutine[Any, Any, T]) -> T:
        """Until it has come."""
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(600)

    def close(self) -> None:
        """End it, once."""
        if self._loop.is_closed():
            return
        self.wait(self._http.aclose())
        self.wait(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()
        self.service.close()

    def ask(self, key: str, sql: str = COUNT, headers: dict[str, str] | None = None, **price: Any) -> httpx.Response:
        """One question."""
        body = {"sql": sql, **(price or {"epsilon": "0.5"})}
        return self.call(key, "POST", "/v1/tables/visits/answers", json=body, headers=headers or {})


Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Makes services; each is closed in the end."""
    made: list[Served] = []

    def make(folder: Path = tmp_path, rows: int = 40, beside: tuple[Path, ...] = (), **settings: Any) -> Served:
        path = folder / "visits.toml"
        path = path if path.exists() else write_table(folder, rows)
        given = {"reply_steps": 0.0, "per_minute": 60_000, "wait": 600.0, **settings}
        made.append(Served(Service(Settings((path, *beside), **given))))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def served(serve: Serve) -> Served:
    """One service."""
    return serve()
