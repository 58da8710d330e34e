"""Agents on models that answer by a script, or badly."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from aggregate import NeuronAgent, ToolRegistry
from aggregate.agents import EngineLimits, ScriptedModel, scripted_model
from aggregate.agents.goals import Trace
from aggregate.agents.tools import Tool

Script = Mapping[str, str | list[str]]
Tools = ToolRegistry | tuple[Tool | Callable[..., Any], ...]


def agent(
    folder: Path, script: Script, tools: Tools = (), **limits: Any
) -> tuple[NeuronAgent, ScriptedModel]:
    """Return an agent that keeps its state in ``folder``, and its model, to which all is well unless it says no.

    It chooses the one tool that there is, or the tool whose name begins with the step's first word.
    """
    registry = ToolRegistry.of(tools)
    usual = {"complete": "yes", "validate": "yes"}
    for name in registry.names:
        usual[f"find_tool: Step: {re.split('(?=[A-Z])', name)[0].capitalize()}"] = name
    if len(registry.names) == 1:
        usual["find_tool"] = registry.names[0]
    model = scripted_model(usual | dict(script))
    return NeuronAgent(model, registry, state_dir=folder, limits=EngineLimits(**limits)), model


def calls(model: ScriptedModel) -> list[str]:
    return [question.call.value for question in model.questions]


def asked(model: ScriptedModel, call: str) -> list[str]:
    """Return the texts of all questions of a kind, in order."""
    return [question.text for question in model.questions if question.call == call]


def nodes(trace: Trace, kind: str) -> list[Trace]:
    """Return what a trace holds of a kind, itself included."""
    below = [found for one in trace.children for found in nodes(one, kind)]
    return [trace, *below] if trace.kind == kind else below
