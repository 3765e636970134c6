"""What all tests share.

Property tests draw the same examples every time, however slow the machine; set TACIT_EXAMPLES to search further.
Answers are drawn in this process, so that tests can look into an engine; those about the other process say so.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tacit.tables.engines import access
from tests import postgres as servers
from tests import spark as clusters
from tests.browser import browser, page

__all__ = ["browser", "page"]

signal.signal(signal.SIGINT, signal.default_int_handler)
"""A shell that starts tests in the background lets them ignore interrupts; those about interrupts would wait."""

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", patient, derandomize=True)
settings.register_profile("search", patient, max_examples=int(os.environ.get("TACIT_EXAMPLES", "100")))
settings.load_profile("search" if "TACIT_EXAMPLES" in os.environ else "same")


@pytest.fixture(autouse=True, scope="session")
def _draw_here() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access, "APART", False)
        yield


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw in a process of its own, as users do."""
    monkeypatch.setattr(access, "APART", True)


@pytest.fixture(scope="session")
def postgres_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.Servers]:
    """PostgreSQL by version, each started when it is first asked for: ``postgres_servers[18].new_database()``."""
    yield from servers.servers(tmp_path_factory)


@pytest.fixture(scope="session", params=servers.VERSIONS)
def postgres(request: pytest.FixtureRequest, postgres_servers: servers.Servers) -> servers.Server:
    """A PostgreSQL server of each version that `make test` has; skipped with a reason, or in CI failed, without it."""
    return postgres_servers[request.param]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of Spark, where `make engines` has it."""
    yield from clusters.sessions(tmp_path_factory.mktemp("warehouse"))
