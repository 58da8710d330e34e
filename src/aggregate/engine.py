"""The goal engine under its name of the last release; it is ``aggregate.agent`` now."""

from aggregate.deprecation import renamed

__getattr__ = renamed(
    __name__,
    {
        "Answered": "aggregate.agent:Completion",
        "Call": "aggregate.agent:QuestionKind",
        "ClientModel": "aggregate.agent:ChatModel",
        "EngineLimits": "aggregate.agent:EngineLimits",
        "GoalResult": "aggregate:GoalResult",
        "Kind": "aggregate.agent:TraceKind",
        "MAX_DEPTH": "aggregate.agent:MAX_DEPTH",
        "MAX_RETRIES": "aggregate.agent:MAX_RETRIES",
        "Model": "aggregate.agent:Model",
        "Neuron": "aggregate.agent:Neuron",
        "NeuronAgent": "aggregate:NeuronAgent",
        "Question": "aggregate.agent:Question",
        "Rule": "aggregate.agent:ScriptRule",
        "ScriptedModel": "aggregate.agent:ScriptedModel",
        "Trace": "aggregate.agent:Trace",
        "read_script": "aggregate.agent:read_script",
        "scripted_model": "aggregate.agent:scripted_model",
    },
)
