"""What `deploy/` says is what the service takes; the unit is read by systemd itself where that is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from tacit.cli.main import cli
from tacit.server.settings import Settings
from tests.server.conftest import write_table

DEPLOY = Path(__file__).parents[2] / "deploy"


def test_the_settings_open_a_table(tmp_path: Path) -> None:
    write_table(tmp_path)
    shutil.copy(DEPLOY / "service.toml", tmp_path)
    settings = Settings.read({}, tmp_path / "service.toml", {})
    assert (settings.port, settings.secure, settings.allows("tacit.example.org")) == (8417, True, True)
    told = CliRunner().invoke(cli, ["serve", "--settings", str(tmp_path / "service.toml"), "--check"])
    assert told.exit_code == 0, told.output
    assert "nothing has been paid yet" in told.output


def test_the_proxy_passes_on_what_the_service_looks_at() -> None:
    """The host with its port, which pages are compared with; bodies as large as are taken; replies that are held."""
    said = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    assert "proxy_set_header Host $http_host;" in said
    assert "proxy_pass http://127.0.0.1:8417;" in said
    assert int(re.findall(r"proxy_read_timeout (\d+)s", said)[0]) > 600
    assert "http2 on" not in said  # nginx of Debian 12 does not know it


def test_the_unit_is_one(tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not here: apt-get install systemd")
    unit = tmp_path / "tacit.service"
    text = (DEPLOY / "tacit.service").read_text(encoding="utf-8")
    unit.write_text(text.replace("/opt/tacit/bin/tacit", shutil.which("true") or ""), encoding="utf-8")
    found = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


def test_the_container_file_names_what_is_there() -> None:
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    copied = re.findall(r"^COPY (.+) \S+$", text, flags=re.MULTILINE)
    assert all((DEPLOY.parent / one).exists() for line in copied for one in line.split())
    named = re.findall(r"TACIT_([A-Z]+)=", text)
    assert {one.lower() for one in named} <= set(Settings.__dataclass_fields__)
