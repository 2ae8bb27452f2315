"""Hand-off, who runs next: the order of rules, the return address, the missing decision, and whose word it was."""

from __future__ import annotations

from pytest_agentcontract.conformance.checks.along import along

_THERE = ("next", "status", "step", "order")
_STOP = ("next", "status", "dispatch")
_HELD = ("next", "status", "dispatch", "reason")

# In order of precedence.
OWN_CALL = along("HND-301", *_THERE)
OWN_STOP = along("HND-302", *_STOP)
CALLBACK_OVER_EDGE = along("HND-303", *_THERE)
EDGE = along("HND-304", *_THERE)
NO_TARGET = along("HND-305", *_HELD, "origin")
DESTINATION = along("HND-306", *_THERE)
TASK = along("HND-307", *_THERE)
UNKNOWN_NAME = along("HND-308", *_HELD, "origin", "order")

# The return address.
CALLER_BY_DEFAULT = along("HND-401", "callback")
NAMED_CALLBACK = along("HND-402", "callback")
FALLBACK_ONLY = along("HND-403", *_STOP, "order")
ADVANCE_ONLY = along("HND-404", *_STOP, "unfinished")
NO_SELF_REENTRY = along("HND-405", "next", "status", "callback")
CLEARED = along("HND-406", "next", "callback", "order")
PERSISTS = along("HND-407", "agent", "next", "callback")
REPLACED = along("HND-408", "next", "callback")
NO_STACK = along("HND-409", "next", "status", "callback", "order")
CALLING_THE_CALLER = along("HND-410", "next", "callback")
CALLING_ITSELF = along("HND-411", "agent", "next", "callback")

# No decision.
SILENT_HOLDS = along("HND-501", *_HELD)
SILENT_RETURNS = along("HND-502", *_HELD)
DIAGNOSTIC_IS_CARRIED = along("HND-503", "reason")
UNREADABLE_RETURNS = along("HND-504", *_HELD)
SHIM_HOLDS = along("HND-505", "dispatch", "origin")
SELF_IS_NO_ADDRESS = along("HND-506", *_STOP)
FAILED_DECIDES_NOTHING = along("HND-507", *_STOP, "origin")

# Whose word it was.
ORIGIN = along("HND-601", "origin")
ORIGIN_IS_THE_ENGINES = along("HND-602", "origin")

# The source's own examples, whole.
ALONG_THE_EDGE = along("HND-901")
CALL_AND_RETURN = along("HND-902")
WITHOUT_A_DECISION = along("HND-903")
