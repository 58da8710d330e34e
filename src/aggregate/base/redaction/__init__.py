"""Find secrets in texts by a table of rules, and replace them in place."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.redaction.redact import *
else:
    __getattr__ = door(
        __name__,
        {"redact": "ALLOWED_LINE AS_THEY_ARE Finding Redacted Redaction redact redact_words"},
    )
