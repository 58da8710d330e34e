"""What the agent passes to a tool that asks for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The agent's side of a call: a function gets it for the parameter that it annotates with this class.

    Attributes:
        data: What earlier steps gave, by key (``neuron_0_2``), large values as references.
        cache_dir: Where the values behind references are.
        seconds: How long the call may take.
        now: When the goal began: the clock of analysis code, the same for all its calls.
    """

    data: Mapping[str, Any] = field(default_factory=dict)
    cache_dir: Path = Path("state/data_cache")
    seconds: float = 10.0
    now: datetime | None = None
