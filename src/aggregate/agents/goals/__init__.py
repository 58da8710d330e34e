"""From a goal to an answer: steps, tools, sub-tasks, and one small question to a model at a time.

A rule decides wherever one can, and then no model is asked. With a scripted model a run is the same every time.
"""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.agents.goals.agent import NeuronAgent
    from aggregate.agents.goals.budget import MAX_DEPTH, MAX_RETRIES, EngineLimits, Limit
    from aggregate.agents.goals.chat_model import ChatModel
    from aggregate.agents.goals.goal_records import (
        new_record,
        recorded,
        records_folder,
        unfinished_goals,
    )
    from aggregate.agents.goals.model import Completion, Model, Question, QuestionKind
    from aggregate.agents.goals.neuron import GoalResult, Neuron
    from aggregate.agents.goals.recorded_goal import RecordedGoal
    from aggregate.agents.goals.scripted_model import (
        ScriptedModel,
        ScriptRule,
        read_script,
        scripted_model,
    )
    from aggregate.agents.goals.trace import Trace, TraceKind
else:
    __getattr__ = door(
        __name__,
        {
            "agent": "NeuronAgent",
            "budget": "EngineLimits Limit MAX_DEPTH MAX_RETRIES",
            "chat_model": "ChatModel",
            "goal_records": "new_record recorded records_folder unfinished_goals",
            "model": "Completion Model Question QuestionKind",
            "neuron": "GoalResult Neuron",
            "recorded_goal": "RecordedGoal",
            "scripted_model": "ScriptRule ScriptedModel read_script scripted_model",
            "trace": "Trace TraceKind",
        },
    )
