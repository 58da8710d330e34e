"""From a goal to an answer: steps, tools, sub-tasks, and one small question to a model at a time.

A rule decides wherever one can, and then no model is asked. With a scripted model a run is the same every time.
"""

from aggregate.engine.adapter import ClientModel
from aggregate.engine.agent import NeuronAgent
from aggregate.engine.limits import MAX_DEPTH, MAX_RETRIES, EngineLimits
from aggregate.engine.model import Answered, Call, Model, Question
from aggregate.engine.neuron import GoalResult, Neuron
from aggregate.engine.scripted import Rule, ScriptedModel, read_script, scripted_model
from aggregate.engine.trace import Kind, Trace

__all__ = [
    "MAX_DEPTH",
    "MAX_RETRIES",
    "Answered",
    "Call",
    "ClientModel",
    "EngineLimits",
    "GoalResult",
    "Kind",
    "Model",
    "Neuron",
    "NeuronAgent",
    "Question",
    "Rule",
    "ScriptedModel",
    "Trace",
    "read_script",
    "scripted_model",
]
