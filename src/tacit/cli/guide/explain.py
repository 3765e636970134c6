"""`tacit explain`: a word of the glossary, in a terminal."""

from __future__ import annotations

import click

from tacit.advice.words import TERMS, is_term
from tacit.advice.words import explain as explained
from tacit.cli.shared.folding import echo_paragraphs

__all__ = ["explain"]


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, metavar="[TERM] [VALUE]")
def explain(words: tuple[str, ...]) -> None:
    """What a word means, in numbers of your own; without a word, all that can be explained.

    \b
    tacit explain epsilon 0.5
    tacit explain composition 1000
    tacit explain sparse vector

    Exit codes: 0 done, 1 no such word or value, 2 wrong usage.
    """
    if not words:
        width = max(map(len, TERMS))
        for one in TERMS.values():
            click.echo(f"  {one.name:<{width}}  {one.title.partition(': ')[2] or one.title}")
        return
    term, but_the_last = " ".join(words), " ".join(words[:-1])
    has_value = not is_term(term) and is_term(but_the_last)
    echo_paragraphs(explained(but_the_last, words[-1]) if has_value else explained(term))
