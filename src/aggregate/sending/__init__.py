"""Send a turn of a discussion to a model and record prompt, answer and cost."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.sending.attached import *
    from aggregate.sending.bills import *
    from aggregate.sending.discussions import *
    from aggregate.sending.edited_prompt import *
    from aggregate.sending.exchange import *
    from aggregate.sending.known_models import *
    from aggregate.sending.model_selection import *
    from aggregate.sending.request_log import *
    from aggregate.sending.second_look import *
    from aggregate.sending.turn import *
    from aggregate.sending.turn_preparation import *
else:
    __getattr__ = door(
        __name__,
        {
            "attached": "Attached file_tokens find_files mentioned_paths",
            "bills": "Charge charged charges",
            "discussions": "Discussion compact_discussion prepare_compaction",
            "edited_prompt": "EditedPrompt",
            "exchange": "Exchange",
            "known_models": "known_model",
            "model_selection": "ModelSelection provider_for select_model",
            "request_log": "LoggedRequest PromptMeter find_prompt read_request recent_requests",
            "second_look": "look_again",
            "turn": "send_turn truncation_warning",
            "turn_preparation": "prepare_turn",
        },
    )
