"""Secrets in text: found by a table of rules, and replaced in their place."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.base.redaction.redact import *
else:
    __getattr__ = door(__name__, {"redact": "redact redact_words"})
