"""Turns of a discussion under their names of the last release; they are in ``aggregate.chat`` now."""

from aggregate.deprecation import renamed

__getattr__ = renamed(
    __name__,
    {
        "Choice": "aggregate.chat.model_selection:ModelSelection",
        "Delivered": "aggregate.chat.turn:CompletedTurn",
        "Prepared": "aggregate.chat.turn:PreparedTurn",
        "deliver": "aggregate.chat.turn:send_turn",
        "prepare": "aggregate.chat.turn:prepare_turn",
    },
)
