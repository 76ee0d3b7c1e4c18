"""The links of the chain from a turn to its recall, each looked at where it is, each fault with its cure."""

from .examine import CANARY, CHECKS, examine
from .finding import Finding, State
from .patient import Patient

__all__ = ["CANARY", "CHECKS", "Finding", "Patient", "State", "examine"]
