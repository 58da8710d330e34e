"""Pure data: what flows between the rooms. Nothing here reads, writes or imports another room."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.base.values.amounts import AUTO, MOST_TOKENS, Amount, parse_amount, parse_number
    from aggregate.base.values.audit import Audit, rounded
    from aggregate.base.values.bead import Bead, Board, Dependency
    from aggregate.base.values.budget import Budget, FileOrder
    from aggregate.base.values.choice import (
        Cut,
        Decided,
        FileChoice,
        Level,
        Missing,
        Reason,
        unknown_names,
    )
    from aggregate.base.values.entry import Entry, FileEntry
    from aggregate.base.values.file_item import FileItem, FileRecord, SliceDict
    from aggregate.base.values.generated import GeneratedPolicy, GeneratedView
    from aggregate.base.values.group import (
        CustomFunction,
        FailurePolicy,
        Group,
        GroupStatus,
        MergeOrder,
        MergeStrategy,
        RunRecord,
        RunStatus,
    )
    from aggregate.base.values.image import Image
    from aggregate.base.values.jsonable import (
        DEPTH,
        JsonCopy,
        StandIn,
        entries,
        failure_text,
        free_key,
        json_text,
        jsonable,
        members,
        message_text,
        type_name,
    )
    from aggregate.base.values.model_name import (
        AZURE,
        BEDROCK,
        CLOUDS,
        VERTEX,
        api_family,
        bare_model_name,
    )
    from aggregate.base.values.packed_map import pack_map, unpack_map
    from aggregate.base.values.preset import ContextPreset
    from aggregate.base.values.prompt import SEPARATOR, Prompt, Section, Segment, Stability
    from aggregate.base.values.redaction import ALLOWED_LINE, AS_THEY_ARE, Finding, Redaction
    from aggregate.base.values.reference import (
        CACHE_DIR,
        REFERENCE_FORMAT,
        THRESHOLD,
        DataReference,
        is_reference,
    )
    from aggregate.base.values.rendered_file import FileRow, RenderedFile
    from aggregate.base.values.reply import FinishReason, Reply
    from aggregate.base.values.result import (
        AggregatedResult,
        Answer,
        AnswerKind,
        AnswerSource,
        CompilationContext,
        LabelledOutput,
        SpawnRequest,
    )
    from aggregate.base.values.row_maker import row_maker
    from aggregate.base.values.scope import ALLOW_OUTSIDE, ALLOW_SECRETS, Scope
    from aggregate.base.values.screenshot import Screenshot
    from aggregate.base.values.sent_file import SentFile
    from aggregate.base.values.shown_text import ShownText
    from aggregate.base.values.source_map import Label, Origin, OriginKind, RunCollector, SourceMap
    from aggregate.base.values.surrogates import SurrogateJoiner, escape_surrogates
    from aggregate.base.values.task import Place, Task
    from aggregate.base.values.usage import Usage, reported_fields, reported_tokens
    from aggregate.base.values.values import Value, behaves_as, extent, isolated_copy, unawaited
    from aggregate.base.values.view import (
        PackedSpans,
        PackedView,
        Span,
        View,
        ViewMode,
        ViewRequest,
    )
else:
    __getattr__ = door(
        __name__,
        {
            "amounts": "AUTO Amount MOST_TOKENS parse_amount parse_number",
            "audit": "Audit rounded",
            "bead": "Bead Board Dependency",
            "budget": "Budget FileOrder",
            "choice": "Cut Decided FileChoice Level Missing Reason unknown_names",
            "entry": "Entry FileEntry",
            "file_item": "FileItem FileRecord SliceDict",
            "generated": "GeneratedPolicy GeneratedView",
            "group": "CustomFunction FailurePolicy Group GroupStatus MergeOrder MergeStrategy RunRecord RunStatus",
            "image": "Image",
            "jsonable": "DEPTH JsonCopy StandIn entries failure_text free_key json_text jsonable members message_text type_name",
            "model_name": "AZURE BEDROCK CLOUDS VERTEX api_family bare_model_name",
            "packed_map": "pack_map unpack_map",
            "preset": "ContextPreset",
            "prompt": "Prompt SEPARATOR Section Segment Stability",
            "redaction": "ALLOWED_LINE AS_THEY_ARE Finding Redaction",
            "reference": "CACHE_DIR DataReference REFERENCE_FORMAT THRESHOLD is_reference",
            "rendered_file": "FileRow RenderedFile",
            "reply": "FinishReason Reply",
            "result": "AggregatedResult Answer AnswerKind AnswerSource CompilationContext LabelledOutput SpawnRequest",
            "row_maker": "row_maker",
            "scope": "ALLOW_OUTSIDE ALLOW_SECRETS Scope",
            "screenshot": "Screenshot",
            "sent_file": "SentFile",
            "shown_text": "ShownText",
            "source_map": "Label Origin OriginKind RunCollector SourceMap",
            "surrogates": "SurrogateJoiner escape_surrogates",
            "task": "Place Task",
            "usage": "Usage reported_fields reported_tokens",
            "values": "Value behaves_as extent isolated_copy unawaited",
            "view": "PackedSpans PackedView Span View ViewMode ViewRequest",
        },
    )
