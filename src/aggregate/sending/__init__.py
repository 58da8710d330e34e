"""Send a turn of a discussion to a model and record prompt, answer and cost."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.sending.discussions import *
    from aggregate.sending.known_models import *
    from aggregate.sending.learned_models import *
    from aggregate.sending.model_selection import *
    from aggregate.sending.prepared_turn import *
    from aggregate.sending.prices import *
    from aggregate.sending.request_log import *
    from aggregate.sending.second_look import *
    from aggregate.sending.turn import *
else:
    __getattr__ = door(
        __name__,
        {
            "discussions": "Discussion PreparedCompaction compact_discussion prepare_compaction",
            "known_models": "known_model",
            "learned_models": "shipped_ratio truncation_warning",
            "model_selection": "ModelSelection select_model",
            "prepared_turn": "prepare_turn",
            "prices": "Charge cache_policy charges context_window cost dollars exceeded_window",
            "request_log": "LoggedRequest log_written_prompt read_request recent_requests write_request",
            "second_look": "look_again",
            "turn": "Exchange send_turn",
        },
    )
