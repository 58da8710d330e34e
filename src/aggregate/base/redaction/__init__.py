"""Find secrets in texts by rules, and replace them."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.redaction.secrets import *
else:
    __getattr__ = door(
        __name__,
        {"secrets": "ALLOWED_LINE AS_THEY_ARE Finding Redacted Redaction redact redact_words"},
    )
