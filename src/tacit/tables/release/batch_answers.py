"""The answers of a batch: one per statement, in the order asked, under one receipt."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tacit.errors import LedgerError
from tacit.ledger.receipts import Receipt
from tacit.privacy.composition import Guarantee
from tacit.report.disclosure import Disclosure
from tacit.tables.release.answer import Answer

__all__ = ["Answers"]

KIND = "tacit batch"
VERSION = 1


class Answers:
    """Released answers that were paid for together: ``answers[0]`` is the first statement's `Answer`."""

    __slots__ = ("_answers", "_receipt")

    def __init__(self, answers: tuple[Answer, ...], receipt: Receipt) -> None:
        self._answers = answers
        self._receipt = receipt

    @staticmethod
    def written(answers: Sequence[Disclosure]) -> bytes:
        """What is stored of them."""
        body = {"kind": KIND, "version": VERSION, "answers": [one.to_dict() for one in answers]}
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def read(cls, stored: bytes, receipt: Receipt) -> Answers:
        """The answers that were stored as bytes; a stored answer to a single question is a batch of one."""
        try:
            body = json.loads(stored)
            told = body["answers"] if body.get("kind") == KIND else [body]
            disclosures = [replace(Disclosure.from_dict(one), number=receipt.number) for one in told]
            return cls(tuple(Answer(one, receipt) for one in disclosures), receipt)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise LedgerError("The stored answers were written by another version of Tacit, or are damaged.") from None

    def __getitem__(self, at: int) -> Answer:
        return self._answers[at]

    def __len__(self) -> int:
        return len(self._answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self._answers)

    @property
    def receipt(self) -> Receipt:
        """The proof of the one payment."""
        return self._receipt

    @property
    def spent(self) -> Guarantee:
        """What all of them cost together; asking again is free."""
        return self._receipt.price

    def reports(self, folder: str | Path | None = None) -> list[str]:
        """One self-contained HTML page per answer, written to 0.html, 1.html, … if a folder is given."""
        where = None if folder is None else Path(folder)
        if where is not None:
            where.mkdir(parents=True, exist_ok=True)
        return [one.report(None if where is None else where / f"{at}.html") for at, one in enumerate(self)]

    def _repr_html_(self) -> str:
        return "".join(f"<div><b>[{at}]</b>{one._repr_html_()}</div>" for at, one in enumerate(self))

    def __repr__(self) -> str:
        return "\n\n".join(f"[{at}] {one.disclosure().question}\n{one!r}" for at, one in enumerate(self))
