"""SQLite files that somebody else may have put there."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.disk.databases.databases import *
else:
    __getattr__ = door(
        __name__,
        {"databases": "check_plain guard_connection has_triggers is_plain_table private_database"},
    )
