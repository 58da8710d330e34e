"""One output on its way into a merge, and what a compiler is told beside the results."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

# A Python callable, a Python expression or lambda as text, or a JavaScript function as text.
CustomFunction = Callable[[list[Any]], Any] | str


@dataclass(frozen=True, slots=True)
class LabelledOutput:
    """One output on its way into a merge."""

    output: Any = None  # any value; ignored where ``error`` is set
    label: str | None = None  # the name that the user gave it; the key in a ``json`` merge
    run_id: str = ""  # names it in warnings where it has no label
    error: str | None = None  # why there is no output, or ``None``

    @property
    def name(self) -> str:
        return self.label or self.run_id


@dataclass(frozen=True, slots=True)
class CompilationContext:
    """What a result compiler is told beside the results (rule R-3)."""

    user_prompt: str
    tools_executed: list[str]  # names of the tools, in the order in which they ran
    timestamp: datetime  # when the analysis ran; a naive time is taken as UTC
    analysis_type: str = "ai_orchestrated"
