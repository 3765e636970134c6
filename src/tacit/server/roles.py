"""Who may do what at the service."""

from __future__ import annotations

from enum import Enum

__all__ = ["Act", "Role", "may"]


class Role(Enum):
    """What a key is for."""

    OWNER = "owner"
    """Everything: asks, sees every account, makes and revokes keys, sets caps, unlocks accounts."""
    ANALYST = "analyst"
    """Plans and asks, and sees what is its own."""
    AUDITOR = "auditor"
    """Sees every account, the whole log, every report, and verifies; asks nothing."""


class Act(Enum):
    """What can be done."""

    LOOK = "look"
    """See tables, schemas, plans, and one's own account."""
    ASK = "ask"
    """Pay for answers."""
    SEE_ALL = "see all"
    """See every account, log entry and report; verify."""
    MANAGE = "manage"
    """Keys, caps, unlocking, signing off a restored ledger."""


_ALLOWED = {
    Role.OWNER: frozenset(Act),
    Role.ANALYST: frozenset({Act.LOOK, Act.ASK}),
    Role.AUDITOR: frozenset({Act.LOOK, Act.SEE_ALL}),
}


def may(role: Role, act: Act) -> bool:
    """Whether a role may do it.

    >>> may(Role.ANALYST, Act.ASK), may(Role.AUDITOR, Act.ASK), may(Role.ANALYST, Act.MANAGE)
    (True, False, False)
    """
    return act in _ALLOWED[role]
