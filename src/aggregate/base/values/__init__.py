"""Pure data: what flows between the rooms. Nothing here reads, writes or imports another room."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.base.values.bead import *
    from aggregate.base.values.decisions import *
    from aggregate.base.values.files import *
    from aggregate.base.values.jsonable import *
    from aggregate.base.values.models import *
    from aggregate.base.values.packed_map import *
    from aggregate.base.values.prompt import *
    from aggregate.base.values.request import *
    from aggregate.base.values.results import *
    from aggregate.base.values.source_map import *
    from aggregate.base.values.values import *
else:
    __getattr__ = door(
        __name__,
        {
            "request": "ALLOW_OUTSIDE ALLOW_SECRETS AUTO Amount Budget ContextFileEntry ContextPreset Entry FileEntry FileOrder GeneratedPolicy GeneratedView MOST_TOKENS Place Scope Task parse_amount parse_number",
            "bead": "Bead Board Dependency",
            "decisions": "Audit Cut FileChoice Level Missing Reason SentFile rounded unknown_names",
            "files": "ALLOWED_LINE AS_THEY_ARE FileItem FileRecord FileRow Finding PackedSpans PackedView Redaction RenderedFile ShownText SliceDict Span View ViewMode ViewRequest",
            "jsonable": "DEPTH JsonCopy entries failure_text free_key json_text jsonable members message_text type_name",
            "models": "AZURE BEDROCK CLOUDS FinishReason Reply Usage VERTEX api_family bare_model_name reported_fields reported_tokens",
            "packed_map": "pack_map unpack_map",
            "prompt": "Image Prompt SEPARATOR Screenshot Section Segment Stability SurrogateJoiner",
            "results": "AggregatedResult Answer AnswerKind AnswerSource CompilationContext CustomFunction FailurePolicy Group GroupStatus LabelledOutput MergeOrder MergeStrategy RunRecord RunStatus SpawnRequest",
            "source_map": "Label Origin OriginKind PackedRuns SourceMap",
            "values": "CACHE_DIR DataReference REFERENCE_FORMAT THRESHOLD Value behaves_as escape_surrogates extent is_reference isolated_copy row_maker unawaited",
        },
    )
