"""From paths to shown files: selection, reading, rendering and sizes."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.files.file import *
    from aggregate.prompt.files.file_reading import *
    from aggregate.prompt.files.file_rendering import *
    from aggregate.prompt.files.markdown_and_xml import *
    from aggregate.prompt.files.selection import *
else:
    __getattr__ = door(
        __name__,
        {
            "file": "File Remark",
            "file_reading": "FileReader missing_grammars NoteKind read_source ReadFacts",
            "file_rendering": "check_refused FileStream render_files RenderedFiles view_version",
            "markdown_and_xml": "file_block files_segments FILES_TIER3 MORE_TOKENS prompt_files rendered_segment screenshots_section tier3_segments",
            "selection": "omission_remark own_output_filter resolve_entries select_files Selection",
        },
    )
