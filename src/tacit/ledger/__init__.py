"""A budget that outlives the process: pay, then draw, then store; receipts; the hash chain; stored answers.

Layer 3: knows prices, not questions. Guide: docs/guides/ledger.md. Why it holds: docs/proofs/ledger.md.
"""

from __future__ import annotations

from tacit.ledger.budget import Account, Budget
from tacit.ledger.chain import Entry
from tacit.ledger.memory import InMemory
from tacit.ledger.names import beside
from tacit.ledger.places import ledger_at
from tacit.ledger.protocol import Ledger
from tacit.ledger.receipts import Receipt
from tacit.ledger.requests import Claim, Request
from tacit.ledger.sqlite.ledger import SqliteLedger
from tacit.ledger.terms import Terms
from tacit.ledger.verification import Problem, Verification

__all__ = [
    "Account",
    "Budget",
    "Claim",
    "Entry",
    "InMemory",
    "Ledger",
    "Problem",
    "Receipt",
    "Request",
    "SqliteLedger",
    "Terms",
    "Verification",
    "beside",
    "ledger_at",
]
