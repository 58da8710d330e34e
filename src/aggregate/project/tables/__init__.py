"""The tables of a configuration as typed models, and its JSON schema."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.tables.tables import *
else:
    __getattr__ = door(
        __name__,
        {
            "tables": "BEADS_MODE BudgetTable Config MaskName ModelTable PersonaTable RedactionTable SendTable TaskTable TokenAmount TokenNumber ViewModeName json_schema"
        },
    )
