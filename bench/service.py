"""The service against its floors: asks a second, stored answers, debits in PostgreSQL, what it takes to be ready.

    PYTHONPATH=. python bench/service.py [--asks 448] [--out bench/results/service.json]

Each number stands beside a floor that was measured in the same run: a Python loop that draws in the same processes,
`lookup` of the ledger, single durable updates of one row, importing the packages and opening the table. A stored answer
is what a server of its own spends on one, CPU of its whole process from socket to socket, and the app without HTTP.
PostgreSQL is started here with fsync on, for both sides. The last replies are held for a second when nothing is drawn
any more: many asks make that matter less. Where other work shares the machine, which changes between the two, the CPU
that an ask takes in all processes, with the client of this program, and that a draw of the loop takes say more.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
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
LAPS = 20
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
            body = {"sql": COUNT, "epsilon": price(1000 + next(waiting))}
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
    before, times = cpu_of_all(), rounds * CLIENTS
    taken = asyncio.run(crowd(keys, rounds))
    spent = cpu_of_all() - before
    floor, alone = loop(service, times)
    service.close()
    return {
        "asks_per_second": times / taken,
        "loop_per_second": floor,
        "asks_over_loop": times / taken / floor,
        "ask_cpu_ms": 1000 * spent / times,
        "loop_cpu_ms": 1000 * alone,
        "asks_over_loop_by_cpu": alone * times / spent,
    }


SERVER = """
import socket, sys
from pathlib import Path
from tacit.server.listening import listen
from tacit.server.roles import Role
from tacit.server.service import Service
from tacit.server.settings import Settings
service = Service(Settings((Path(sys.argv[1]),), per_minute=1e6, reply_steps=0.0, wait=60.0))
at = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
at.bind(("127.0.0.1", 0))
print(at.getsockname()[1], service.keys.make("ada", Role.ANALYST)[1], flush=True)
listen(service, at)
"""


def cpu_of_all() -> float:
    """Seconds of CPU of this process and all that it has started and that still run."""
    spent, found = 0.0, [os.getpid()]
    for pid in found:  # which grows
        spent += cpu_of(pid)
        tasks = Path(f"/proc/{pid}/task").glob("*/children")
        found += [int(child) for one in tasks for child in one.read_text(encoding="utf-8").split()]
    return spent


def cpu_of(pid: int) -> float:
    """Seconds of CPU of a process, all of its threads, without its children."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(one.read_text(encoding="utf-8").split()[0]) for one in threads) / 1e9


def stored(folder: Path, many: int = 2000) -> dict[str, float]:
    """A stored answer of a server, and `lookup` of its ledger: CPU of each, the best of laps in turns."""
    import http.client

    import tacit
    from tacit.ledger import Request

    command = [sys.executable, "-c", SERVER, str(table_in(folder))]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        port, key = server.stdout.readline().split()
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
        body = json.dumps({"sql": COUNT, "epsilon": price(0)})
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

        def ask() -> str | None:
            connection.request("POST", "/v1/tables/visits/answers", body, headers)
            reply = connection.getresponse()
            reply.read()
            assert reply.status == 200
            return reply.headers["tacit-charged"]

        for _ in range(60):
            try:
                ask()
                break
            except ConnectionRefusedError:
                connection.close()
                time.sleep(0.5)
        with tacit.open(folder / "visits.toml", analyst="ada") as table:
            plan, ledger = table.query(COUNT).plan(epsilon=price(0)), table.ledger
            request = Request("ada", plan.question, table.policy.fingerprint(), None)
            assert ledger.lookup(request, plan.cost) is not None
            connection.close()  # it may have been idle for too long: connected anew
            for _ in range(200):
                assert ask() == "no"
            spent, looked, walls = list[float](), list[float](), list[float]()
            for _ in range(LAPS):
                before = cpu_of(server.pid)
                for _ in range(many // LAPS):
                    began = time.perf_counter()
                    ask()
                    walls.append(time.perf_counter() - began)
                spent.append((cpu_of(server.pid) - before) / (many // LAPS))
                began = time.process_time()
                for _ in range(many // LAPS):
                    ledger.lookup(request, plan.cost)
                looked.append((time.process_time() - began) / (many // LAPS))
    finally:
        server.terminate()
        server.wait(30)
    app, recalled = without_http(folder / "visits.toml", body)
    return {
        "stored_app_cpu_ms": 1000 * app,
        "recall_cpu_ms": 1000 * recalled,
        "stored_app_over_recall": app / recalled,
        "stored_app_over_lookup": app / min(looked),
        "stored_cpu_ms": 1000 * min(spent),
        "stored_cpu_median_ms": 1000 * statistics.median(spent),
        "stored_wall_ms": 1000 * statistics.median(walls),
        "lookup_cpu_ms": 1000 * min(looked),
        "lookup_cpu_median_ms": 1000 * statistics.median(looked),
        "stored_over_lookup": min(spent) / min(looked),
    }


def without_http(policy: Path, body: str, many: int = 300) -> tuple[float, float]:
    """The app alone, without a parser of HTTP, and `recall` of the library: CPU of each."""
    from tacit.server.app import make_app
    from tacit.server.roles import Role
    from tacit.server.service import Service
    from tacit.server.settings import Settings

    service = Service(Settings((policy,), per_minute=1e6))
    app, key = make_app(service), service.keys.make("ada", Role.ANALYST)[1]
    headers = {
        "host": "127.0.0.1", "authorization": f"Bearer {key}", "content-type": "application/json",
        "content-length": str(len(body)),
    }  # fmt: skip
    path = "/v1/tables/visits/answers"
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "path": path,
        "raw_path": path.encode(), "query_string": b"", "root_path": "", "scheme": "http", "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80), "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip

    async def receive() -> Any:
        return {"type": "http.request", "body": body.encode(), "more_body": False}

    async def send(message: Any) -> None:
        assert message.get("status", 200) == 200

    async def asked() -> float:
        for _ in range(20):
            await app(dict(scope), receive, send)
        began = time.process_time()
        for _ in range(many):
            await app(dict(scope), receive, send)
        return (time.process_time() - began) / many

    taken = asyncio.run(asked())
    question = service.served_tables["visits"].of("ada").query(COUNT)
    began = time.process_time()
    for _ in range(many):
        assert question.recall(epsilon=price(0)) is not None
    recalled = (time.process_time() - began) / many
    service.close()
    return taken, recalled


def loop(service: Any, many: int) -> tuple[float, float]:
    """Threads that do nothing but ask the library, each with a process that draws: draws a second, CPU of each."""
    served = service.served_tables["visits"]
    numbers, lock = iter(range(many)), threading.Lock()

    def draw(name: str) -> None:
        try:
            drawn(name)
        except BaseException:
            for one in (ready, done, measured):
                one.abort()  # the program ends too
            raise

    def drawn(name: str) -> None:
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
        done.wait()
        measured.wait()
        worker.close()

    ready, done, measured = (threading.Barrier(WORKERS + 1) for _ in range(3))
    threads = [threading.Thread(target=draw, args=(f"loop {n}",)) for n in range(WORKERS)]
    for one in threads:
        one.start()
    ready.wait()
    before, began = cpu_of_all(), time.perf_counter()
    done.wait()
    taken, spent = time.perf_counter() - began, cpu_of_all() - before
    measured.wait()
    for one in threads:
        one.join()
    return many / taken, spent / many


def debits(address: str) -> dict[str, Any]:
    """Debits in PostgreSQL against single updates of one row on the same server; durable if its fsync is on."""
    import psycopg

    from tacit.ledger import Request, Terms
    from tacit.ledger.postgres.ledger import PostgresLedger
    from tacit.privacy import PureDP

    raw = psycopg.connect(address, autocommit=True)
    fsync = raw.execute("SHOW fsync").fetchone()
    raw.execute("CREATE TABLE bench_one (n bigint)")
    raw.execute("INSERT INTO bench_one VALUES (0)")
    terms = Terms(PureDP(10**6), least=PureDP("0.001"), strikes=10**6)
    ledger = PostgresLedger(f"{address}#bench").open("bench", terms)
    numbers, claims = iter(range(10**9)), []

    def update() -> None:
        raw.execute("UPDATE bench_one SET n = n + 1")

    def debit() -> None:
        number = next(numbers)
        claims.append(ledger.spend(Request(f"analyst {number % 20}", str(number)), PureDP(1)))

    times: dict[Callable[[], None], list[float]] = {update: [], debit: []}
    for lap in range(11):
        for act, taken in times.items():
            began = time.perf_counter()
            for _ in range(40):
                act()
            if lap:  # the first one warms up
                taken.append((time.perf_counter() - began) / 40)
    ledger.close()
    raw.close()
    updates, paid = (1 / statistics.median(times[act]) for act in (update, debit))
    return {
        "postgres_fsync": fsync and fsync[0],
        "updates_per_second": updates,
        "debits_per_second": paid,
        "debits_over_updates": paid / updates,
    }


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """A database of a server of its own, which writes to the disk before it says so."""
    from tests.postgres import Servers

    shared = Path(tempfile.mkdtemp(prefix="tpg-"))
    shared.chmod(0o755)
    servers = Servers(shared)
    try:
        yield servers.another(18, "fsync = on\nfull_page_writes = on\nsynchronous_commit = on\n").new_database()
    finally:
        servers.close()
        shutil.rmtree(shared, ignore_errors=True)


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
    parser.add_argument("--asks", type=int, default=448)
    parser.add_argument("--out", type=Path, default=Path("bench/results/service.json"))
    given = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        found |= asks(Path(folder), given.asks)
    with tempfile.TemporaryDirectory() as folder:
        found |= ready(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        found |= stored(Path(folder))
    with postgres() as address:
        found |= debits(address)
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
