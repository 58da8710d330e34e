"""Any value as JSON, whatever it does when it is looked at."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.base.json_forms.jsonable import *
else:
    __getattr__ = door(
        __name__,
        {
            "jsonable": "DEPTH JsonCopy entries failure_text first_of free_key json_text jsonable members message_text type_name"
        },
    )
