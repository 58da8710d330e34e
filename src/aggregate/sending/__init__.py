"""Send a turn of a discussion to a model and record prompt, answer and cost."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.sending.attached import Attached, file_tokens, find_files, mentioned_paths
    from aggregate.sending.bills import *
    from aggregate.sending.discussions import *
    from aggregate.sending.edited_prompt import *
    from aggregate.sending.exchange import *
    from aggregate.sending.model_selection import *
    from aggregate.sending.request_log import *
    from aggregate.sending.second_look import *
    from aggregate.sending.turn import *
    from aggregate.sending.turn_preparation import *
else:
    __getattr__ = door(
        __name__,
        {
            "request_log": "LoggedRequest PromptMeter find_prompt read_request recent_requests",
            "attached": "Attached file_tokens find_files mentioned_paths",
            "bills": "Charge charged charges",
            "discussions": "Discussion compact_discussion prepare_compaction",
            "edited_prompt": "EditedPrompt",
            "model_selection": "ModelSelection provider_for select_model",
            "exchange": "Exchange",
            "second_look": "look_again",
            "turn": "send_turn",
            "turn_preparation": "prepare_turn",
        },
    )
