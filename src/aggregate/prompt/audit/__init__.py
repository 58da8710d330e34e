"""Audits of prompts: decisions and token counts."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.audit.account import *
    from aggregate.prompt.audit.text import *
else:
    __getattr__ = door(
        __name__,
        {
            "account": "Audit audit_data audit_of audit_schema newest_audited pack_map read_audit record_audit unpack_map write_audit",
            "text": "audit_lines row_lines told_reasons",
        },
    )
