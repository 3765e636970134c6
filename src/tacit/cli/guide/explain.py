"""`tacit explain`: a word of the glossary, in a terminal."""

from __future__ import annotations

import click

from tacit.advice.words import TERMS
from tacit.advice.words import explain as explained

__all__ = ["explain"]


@click.command()
@click.argument("term", required=False)
@click.argument("value", required=False)
def explain(term: str | None, value: str | None) -> None:
    """What a word means, in numbers of your own; without a word, all that can be explained.

    \b
    tacit explain epsilon 0.5
    tacit explain composition 1000
    tacit explain "sparse vector"

    Exit codes: 0 done, 1 no such word or value, 2 wrong usage.
    """
    if term is None:
        width = max(map(len, TERMS))
        for one in TERMS.values():
            click.echo(f"  {one.name:<{width}}  {one.title.partition(': ')[2] or one.title}")
        return
    click.echo(explained(term, value))
