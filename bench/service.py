"""The service against its floors: asks a second, stored answers, debits in PostgreSQL, what it takes to be ready.

    python bench/service.py [--postgres postgresql://…] [--asks 128] [--out bench/results/service.json]

Each number stands beside a floor that was measured in the same run: a Python loop that draws in the same processes,
`lookup` of the ledger, single durable updates of one row, importing the packages and opening the table.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

POLICY = """\
version = 1
source = "visits.csv"
table = "visits"
unit = "who"

[budget]
epsilon = 100000
delta = 1e-8
strikes = 100

[columns]
who   = { type = "integer", role = "identifier" }
plan  = { type = "text", role = "public", keys = ["free", "pro"] }
spend = { type = "real", role = "private", bounds = [0, 100] }
"""
COUNT = "SELECT plan, COUNT(*) AS n FROM visits GROUP BY plan"
CLIENTS = 64
WORKERS = 2
LEAST = 100  # a thousandth of the total


def table_in(folder: Path) -> Path:
    rows = "".join(f"{n},{('free', 'pro')[n % 2]},{n % 90}\n" for n in range(1000))
    (folder / "visits.csv").write_text("who,plan,spend\n" + rows, encoding="utf-8")
    (folder / "visits.toml").write_text(POLICY, encoding="utf-8")
    return folder / "visits.toml"


def price(number: int) -> str:
    return f"{LEAST + number / 1000:.3f}"


def asks(folder: Path, many: int) -> dict[str, float]:
    """Asks a second: 64 clients who wait, replies held in steps; and a loop that draws in as many processes."""
    import httpx

    from tacit.server.app import make_app
    from tacit.server.roles import Role
    from tacit.server.service import Service
    from tacit.server.settings import Settings

    service = Service(Settings((table_in(folder),), workers=WORKERS, line=1000, per_minute=1e6, wait=300.0))
    keys = [service.keys.make(f"analyst {n}", Role.ANALYST)[1] for n in range(CLIENTS)]
    waiting = iter(range(10**9))

    async def client(http: Any, key: str, rounds: int) -> None:
        for _ in range(rounds):
            body = {"sql": COUNT, "epsilon": price(next(waiting) % 300)}
            headers = {"Authorization": f"Bearer {key}"}
            told = await http.post("/v1/tables/visits/answers", json=body, headers=headers)
            assert told.status_code == 200, told.text

    async def crowd(clients: list[str], rounds: int) -> float:
        transport = httpx.ASGITransport(make_app(service))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=600) as http:
            began = time.perf_counter()
            await asyncio.gather(*(client(http, key, rounds) for key in clients))
            return time.perf_counter() - began

    asyncio.run(crowd(keys[:WORKERS], 1))  # the processes are there
    rounds = max(1, many // CLIENTS)
    taken = asyncio.run(crowd(keys, rounds))
    stored = asyncio.run(again(service, make_app(service), keys[0], httpx))
    floor = loop(service, rounds * CLIENTS)
    looked = lookups(service)
    service.close()
    return {
        "asks_per_second": rounds * CLIENTS / taken,
        "loop_per_second": floor,
        "asks_over_loop": rounds * CLIENTS / taken / floor,
        "stored_ms": 1000 * stored,
        "lookup_ms": 1000 * looked,
        "stored_over_lookup": stored / looked,
    }


async def again(service: Any, app: Any, key: str, httpx: Any) -> float:
    """One stored answer, the median of many."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http:
        body = {"sql": COUNT, "epsilon": price(299)}
        headers = {"Authorization": f"Bearer {key}"}
        await http.post("/v1/tables/visits/answers", json=body, headers=headers)
        times = []
        for _ in range(50):
            began = time.perf_counter()
            told = await http.post("/v1/tables/visits/answers", json=body, headers=headers)
            times.append(time.perf_counter() - began)
            assert told.headers["tacit-charged"] == "no"
        return statistics.median(times)


def loop(service: Any, many: int) -> float:
    """Threads that do nothing but ask the library, each with a process that draws: draws a second."""
    served = service.served_tables["visits"]
    numbers, lock = iter(range(many)), threading.Lock()

    def draw(name: str) -> None:
        worker = served._worker()
        table = served.of(name, worker)
        table.sql(COUNT, epsilon=price(998))
        ready.wait()
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                break
            table.sql(COUNT, epsilon=price(300 + number % 600), fresh=True)
        worker.close()

    ready = threading.Barrier(WORKERS + 1)
    threads = [threading.Thread(target=draw, args=(f"loop {n}",)) for n in range(WORKERS)]
    for one in threads:
        one.start()
    ready.wait()
    began = time.perf_counter()
    for one in threads:
        one.join()
    return many / (time.perf_counter() - began)


def lookups(service: Any) -> float:
    """`recall` of the library, which looks up in the ledger; the median."""
    question = service.served_tables["visits"].of("analyst 0").query(COUNT)
    times = []
    for _ in range(50):
        began = time.perf_counter()
        assert question.recall(epsilon=price(299)) is not None
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def debits(address: str) -> dict[str, Any]:
    """Debits in PostgreSQL against single updates of one row on the same server; durable if its fsync is on."""
    import psycopg

    from tacit.ledger import Request, Terms
    from tacit.ledger.postgres.ledger import PostgresLedger
    from tacit.privacy import PureDP

    with psycopg.connect(address, autocommit=True) as raw:
        fsync = raw.execute("SHOW fsync").fetchone()
        raw.execute("CREATE TABLE IF NOT EXISTS bench_one (n bigint)")
        raw.execute("INSERT INTO bench_one VALUES (0)")
        began = time.perf_counter()
        for _ in range(200):
            raw.execute("UPDATE bench_one SET n = n + 1")
        updates = 200 / (time.perf_counter() - began)
        raw.execute("DROP TABLE bench_one")
    terms = Terms(PureDP(10**6), least=PureDP("0.001"), strikes=10**6)
    ledger = PostgresLedger(f"{address}#bench_{os.getpid()}").open("bench", terms)
    for number in range(10):
        ledger.spend(Request("ada", f"warm {number}"), PureDP(1)).abandon()
    began = time.perf_counter()
    claims = [ledger.spend(Request(f"analyst {number}", str(number)), PureDP(1)) for number in range(200)]
    paid = 200 / (time.perf_counter() - began)
    assert len(claims) == 200
    ledger.close()
    ratio = paid / updates
    return {
        "postgres_fsync": fsync and fsync[0],
        "updates_per_second": updates,
        "debits_per_second": paid,
        "debits_over_updates": ratio,
    }


READY = """
import sys
from pathlib import Path
import fastapi, uvicorn
{}
"""
OPENS = "import tacit; tacit.open(sys.argv[1])"
SERVES = """
from tacit.server.settings import Settings
from tacit.server.service import Service
from tacit.server.app import make_app
make_app(Service(Settings((Path(sys.argv[1]),))))
"""


def ready(folder: Path) -> dict[str, float]:
    """CPU seconds until the service could answer, against importing its packages and opening the table."""
    policy, found = table_in(folder), {}
    for name, code in (("floor", OPENS), ("serve", SERVES)):
        times = []
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", READY.format(code), str(policy)], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        found[name] = min(times)
    return {
        "ready_cpu_s": found["serve"],
        "packages_and_table_cpu_s": found["floor"],
        "ready_over_floor": found["serve"] / found["floor"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--postgres", default=None)
    parser.add_argument("--asks", type=int, default=256)
    parser.add_argument("--out", type=Path, default=Path("bench/results/service.json"))
    given = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        found |= asks(Path(folder), given.asks)
    with tempfile.TemporaryDirectory() as folder:
        found |= ready(Path(folder))
    if given.postgres:
        found |= debits(given.postgres)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    made = {
        "commit": commit,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "load_at_the_end": os.getloadavg()[0],
        "clients": CLIENTS,
        "workers": WORKERS,
        **{name: round(value, 4) if isinstance(value, float) else value for name, value in found.items()},
    }
    given.out.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(made, indent=1))


if __name__ == "__main__":
    main()
