"""A finished prompt: its numbered files, its parts and its source map."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.output.numbered_output import *
    from aggregate.prompt.output.references import *
    from aggregate.prompt.output.source_map import *
    from aggregate.prompt.output.split import *
else:
    __getattr__ = door(
        __name__,
        {
            "numbered_output": "audit_path numbered_files prune_outputs request_log_path write_numbered",
            "references": "resolve_reference with_references",
            "source_map": "add_segment add_separator map_sources",
            "split": "cuts_of split_prompt",
        },
    )
