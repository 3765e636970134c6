"""What came before differential privacy: k-anonymity and its kin, done well, and attacks that undo them.

Nothing here makes a guarantee.
"""

from tacit.anonymity.check import check
from tacit.anonymity.classes import Unknown
from tacit.anonymity.deidentify import Deidentified, deidentify
from tacit.anonymity.enforce import Enforced, enforce
from tacit.anonymity.findings import NO_GUARANTEE, BrokenClass, Findings, Risk, SensitiveFindings
from tacit.anonymity.hierarchy import Hierarchy
from tacit.anonymity.limits import Limits
from tacit.anonymity.loss import Loss
from tacit.anonymity.methods import FullDomain, Method, Mondrian, RelaxedMondrian
from tacit.anonymity.pseudonyms import PseudonymKey
from tacit.anonymity.rows import Rows, read

__all__ = [
    "NO_GUARANTEE",
    "BrokenClass",
    "Deidentified",
    "Enforced",
    "Findings",
    "FullDomain",
    "Hierarchy",
    "Limits",
    "Loss",
    "Method",
    "Mondrian",
    "PseudonymKey",
    "RelaxedMondrian",
    "Risk",
    "Rows",
    "SensitiveFindings",
    "Unknown",
    "check",
    "deidentify",
    "enforce",
    "read",
]
