"""From a goal to an answer: steps, tools, sub-tasks, and one small question to a model at a time.

A rule decides wherever one can, and then no model is asked. With a scripted model a run is the same every time.
"""

from aggregate.engine.adapter import ChatModel
from aggregate.engine.agent import NeuronAgent
from aggregate.engine.limits import MAX_DEPTH, MAX_RETRIES, EngineLimits
from aggregate.engine.model import Completion, Model, Question, QuestionKind
from aggregate.engine.neuron import GoalResult, Neuron
from aggregate.engine.scripted import ScriptedModel, ScriptRule, read_script, scripted_model
from aggregate.engine.trace import Trace, TraceKind

__all__ = [
    "MAX_DEPTH",
    "MAX_RETRIES",
    "Completion",
    "QuestionKind",
    "ChatModel",
    "EngineLimits",
    "GoalResult",
    "TraceKind",
    "Model",
    "Neuron",
    "NeuronAgent",
    "Question",
    "ScriptRule",
    "ScriptedModel",
    "Trace",
    "read_script",
    "scripted_model",
]
