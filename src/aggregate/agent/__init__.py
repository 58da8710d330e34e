"""From a goal to an answer: steps, tools, sub-tasks, and one small question to a model at a time.

A rule decides wherever one can, and then no model is asked. With a scripted model a run is the same every time.
"""

from aggregate.agent.agent import NeuronAgent
from aggregate.agent.budget import MAX_DEPTH, MAX_RETRIES, EngineLimits, Limit
from aggregate.agent.chat_model import ChatModel
from aggregate.agent.model import Completion, Model, Question, QuestionKind
from aggregate.agent.neuron import GoalResult, Neuron
from aggregate.agent.scripted_model import ScriptedModel, ScriptRule, read_script, scripted_model
from aggregate.agent.trace import Trace, TraceKind

__all__ = [
    "MAX_DEPTH",
    "MAX_RETRIES",
    "ChatModel",
    "Completion",
    "EngineLimits",
    "GoalResult",
    "Limit",
    "Model",
    "Neuron",
    "NeuronAgent",
    "Question",
    "QuestionKind",
    "ScriptRule",
    "ScriptedModel",
    "Trace",
    "TraceKind",
    "read_script",
    "scripted_model",
]
