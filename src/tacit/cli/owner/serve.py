"""`tacit serve`: tables for many analysts, by an API and a page."""

from __future__ import annotations

import socket
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from tacit.errors import InvalidParameter, MissingPackage

__all__ = ["serve"]

_POLICY = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("policies", nargs=-1, metavar="POLICY...", type=_POLICY)
@click.option("--host", metavar="ADDRESS", help="Where to listen.  [127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="0 takes any that is free.  [8417]")
@click.option("--host-name", "hosts", multiple=True, metavar="NAME", help="A name that a proxy is asked for by.")
@click.option("--ledger", metavar="ADDRESS", help="postgresql://…: ledgers and keys of several processes.")
@click.option("--keys", metavar="FILE|ADDRESS", help="Where keys are kept.  [beside the first policy]")
@click.option("--workers", type=click.IntRange(1), metavar="N", help="Processes that draw at a time.  [2]")
@click.option("--line", type=click.IntRange(1), metavar="N", help="Requests that may wait for one.  [64]")
@click.option("--reply-steps", type=float, metavar="S", help="Replies to payments leave at 1, 2, 4, … times S.  [1]")
@click.option("--secure", is_flag=True, default=None, help="The page is reached by https alone.")
@click.option("--settings", type=_POLICY, metavar="FILE", help="All of these in TOML; TACIT_PORT and the like too.")
@click.option("--new-owner-key", is_flag=True, help="Make one more key for the owner, and print it.")
@click.option("--check", is_flag=True, help="Open everything, say what was found, and end.")
def serve(policies: tuple[Path, ...], settings: Path | None, new_owner_key: bool, check: bool, **flags: Any) -> None:
    """Serve tables: an API and a page, on this machine unless you say otherwise.

    \b
    tacit serve visits.toml
    tacit serve visits.toml people.toml --ledger postgresql://keeper@db/budgets
    tacit serve --settings service.toml --check

    The first start prints the owner's key, once. Whoever asks from elsewhere comes by a proxy that does TLS:
    docs/guides/service.md.

    Exit codes: 0 ended, 1 refused (the message says why), 2 wrong usage.
    """
    for package in ("fastapi", "uvicorn", "httptools"):
        if import_module("importlib.util").find_spec(package) is None:
            raise MissingPackage(package, extra="server")
    from tacit.server.settings import Settings

    said = Settings.read({"policies": policies, **flags}, settings)
    from tacit.server.service import Service  # the server's packages are loaded here, and by nobody else

    service = Service(said)
    if check:
        _tell(service)
        service.close()
        return
    with closing(_listening(said.host, said.port)) as door:
        key = service.keys.make("owner", _owner())[1] if new_owner_key else service.first_key()
        _welcome(service, door.getsockname()[1], key)
        from tacit.server.listening import listen

        listen(service, door)


def _owner() -> Any:
    from tacit.server.roles import Role

    return Role.OWNER


def _tell(service: Any) -> None:
    """What `--check` says of each table."""
    for served in service.served_tables.values():
        state = "nothing has been paid yet"
        if served.is_begun:
            found = served.ledger.verify()
            state = f"{found.entries} entries, {'sound' if found.sound else 'NOT SOUND: tacit verify'}"
        click.echo(f"{served.name}: {served.path}; {state}")
        gone = served.missing()
        if gone is not None:
            click.echo(f"  an older copy of its ledger was put back: entry {gone[0]} is missing; to be signed off")
    keys = [key for key in service.keys.all() if key.revoked is None]
    click.echo(f"{len(keys)} key{'' if len(keys) == 1 else 's'} in {service.settings.place_of_keys}")


def _welcome(service: Any, port: int, key: str | None) -> None:
    host = service.settings.host
    where = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
    click.echo(f"{', '.join(service.served_tables)} at {where}  (API: {where}v1/openapi.json)")
    if key is not None:
        click.echo("The owner's key, shown this once; it makes keys for others:")
        click.echo(f"  {key}")


def _listening(host: str, port: int) -> socket.socket:
    """A socket of ours: a port that is taken is told before anything else happens."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    door = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # said, or replies wait 40 ms for Nagle
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((host, port))
        door.listen(512)
    except OSError as error:
        door.close()
        hint = f"{error.strerror}. Another service may have it: --port 0 takes any that is free."
        raise InvalidParameter("--port", given=port, allowed="an address that is free", hint=hint) from None
    return door
