"""Send a turn of a discussion to a model and record prompt, answer and cost."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.sending.bills import *
    from aggregate.sending.discussions import *
    from aggregate.sending.exchange import *
    from aggregate.sending.known_models import *
    from aggregate.sending.model_selection import *
    from aggregate.sending.request_log import *
    from aggregate.sending.second_look import *
    from aggregate.sending.turn import *
else:
    __getattr__ = door(
        __name__,
        {
            "bills": "Charge charged charges",
            "discussions": "Discussion PreparedCompaction compact_discussion prepare_compaction",
            "exchange": "Exchange",
            "known_models": "LARGEST_IMAGE known_model",
            "model_selection": "ModelSelection provider_for select_model",
            "request_log": "LoggedRequest log_written_prompt read_request recent_requests write_request",
            "second_look": "look_again",
            "turn": "prepare_turn send_turn",
        },
    )
