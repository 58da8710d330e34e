"""Reach goals by steps, tools and questions to a model.

The model is asked only if no fixed rule decides, so a run with a scripted model is always the same.
"""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.agents.goals.agent import *
    from aggregate.agents.goals.answers import *
    from aggregate.agents.goals.fan_out import *
    from aggregate.agents.goals.goal_result import *
    from aggregate.agents.goals.heuristics import *
    from aggregate.agents.goals.item_words import *
    from aggregate.agents.goals.quantities import *
    from aggregate.agents.goals.questions import *
    from aggregate.agents.goals.scripted import *
else:
    __getattr__ = door(
        __name__,
        {
            "agent": "ChatModel NeuronAgent verdict",
            "answers": "select_answer",
            "fan_out": "merge_parts",
            "goal_result": "GoalResult Neuron Trace TraceKind",
            "heuristics": "find_iteration resolve_reference",
            "item_words": "read_claim",
            "quantities": "extract_quantity",
            "questions": "Completion Model Question QuestionKind",
            "scripted": "read_script scripted_model ScriptedModel",
        },
    )
