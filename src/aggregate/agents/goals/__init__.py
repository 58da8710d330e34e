"""Reach goals by steps, tools and questions to a model.

The model is asked only if no fixed rule decides, so a run with a scripted model is always the same.
"""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.agents.goals.agent import *
    from aggregate.agents.goals.goal_result import *
    from aggregate.agents.goals.questions import *
    from aggregate.agents.goals.step_items import *
    from aggregate.agents.goals.words import *
else:
    __getattr__ = door(
        __name__,
        {
            "agent": "ChatModel NeuronAgent verdict",
            "goal_result": "GoalResult Neuron Trace TraceKind select_answer",
            "questions": "Completion Model Question QuestionKind",
            "step_items": "merge_parts",
            "words": "extract_quantity find_iteration read_claim",
        },
    )
