"""A turn of a discussion with a model: what was sent before, who is asked, the answer, and what is recorded of it."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.sending.discussions import (
        CompletedCompaction,
        PreparedCompaction,
        compact_discussion,
        delete_discussion,
        fork_discussion,
        last_exchange,
        prepare_compaction,
        project_discussion,
        take_back,
    )
    from aggregate.sending.host_requests import (
        PlannedRequest,
        plan_for,
        record,
        to_anthropic,
        to_gemini,
        to_openai,
    )
    from aggregate.sending.model_selection import (
        COMPANIES,
        ModelSelection,
        SelectedModel,
        select_model,
    )
    from aggregate.sending.prompt_meter import AuditRecorder, PromptMeter
    from aggregate.sending.request_log import (
        LoggedRequest,
        find_prompt,
        log_written_prompt,
        read_request,
        recent_requests,
    )
    from aggregate.sending.send_plan import diffs_sentence, dollars, plan_data, plan_lines, price
    from aggregate.sending.turn import CompletedTurn, send_turn
    from aggregate.sending.turn_preparation import PreparedTurn, prepare_turn
else:
    __getattr__ = door(
        __name__,
        {
            "discussions": "CompletedCompaction PreparedCompaction compact_discussion delete_discussion fork_discussion last_exchange prepare_compaction project_discussion take_back",
            "host_requests": "PlannedRequest plan_for record to_anthropic to_gemini to_openai",
            "model_selection": "COMPANIES ModelSelection SelectedModel select_model",
            "prompt_meter": "AuditRecorder PromptMeter",
            "request_log": "LoggedRequest find_prompt log_written_prompt read_request recent_requests",
            "send_plan": "diffs_sentence dollars plan_data plan_lines price",
            "turn": "CompletedTurn send_turn",
            "turn_preparation": "PreparedTurn prepare_turn",
        },
    )
