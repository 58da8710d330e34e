"""What a model answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from aggregate.base.values.usage import Usage


class FinishReason(StrEnum):
    """Why a model stopped writing."""

    END = "end"
    LENGTH = "length"
    REFUSED = "refused"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request.

    Attributes:
        text: What the model wrote, without its thoughts.
        usage: Tokens, in the one form of all providers; zeros where the provider reports none.
        stop: Why it stopped.
        model: The model that answered, as the provider calls it.
        raw: The provider's own account of usage and stop, for what the other fields do not say.
    """

    text: str
    usage: Usage
    stop: FinishReason = FinishReason.END
    model: str = ""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)
