"""Values that others returned: how far they go, copies that share nothing, references to what lies on disk."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.values.values import *
else:
    __getattr__ = door(
        __name__,
        {
            "values": "CACHE_DIR DataReference THRESHOLD Value behaves_as escape_surrogates extent is_reference isolated_copy row_maker unawaited"
        },
    )
