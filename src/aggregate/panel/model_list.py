"""The models that the page compares a prompt with: their windows and prices."""

from dataclasses import dataclass

from aggregate.base.values import Usage
from aggregate.panel.protocol import ModelData
from aggregate.project.configuration import Project
from aggregate.sending.clients import context_window, cost, models_to_choose, token_ratio

_MILLION = 1_000_000
_PRICED = 1_000
"""Tokens whose price is asked for: beyond some 200,000 a few models cost more for each."""


@dataclass(frozen=True, slots=True)
class PricedModel:
    """A model and what it costs.

    Attributes:
        input: US dollars for a million tokens of input.
        ratio: Tokens of the provider's for one of ours.
    """

    provider: str
    model: str
    window: int | None
    input: float | None
    output: float | None
    ratio: float

    def data(self, tokens: int | None) -> ModelData:
        """Return the model beside a prompt of so many tokens."""
        own = None if tokens is None else round(tokens * self.ratio)
        is_priced = own is not None and self.input is not None
        return {
            "name": f"{self.provider}/{self.model}" if self.provider else self.model,
            "window": self.window,
            "input": self.input,
            "output": self.output,
            "tokens": own,
            "cost": round((own or 0) * (self.input or 0) / _MILLION, 6) if is_priced else None,
        }


def priced_models(project: Project) -> tuple[PricedModel, ...]:
    """Return the models that the user has named, and each provider's usual one.

    What a project's own file says of prices does not count: it may come from somebody else.
    """
    pairs = models_to_choose(project.config.send)
    return tuple(_priced(*pair) for pair in dict.fromkeys(pairs))


def _priced(provider: str, model: str) -> PricedModel:
    prices = [
        cost(usage, model, provider=provider)
        for usage in (Usage(fresh=_PRICED), Usage(output=_PRICED))
    ]
    scale = _MILLION // _PRICED
    fresh, output = (None if price is None else float(price * scale) for price in prices)
    ratio = token_ratio(provider, model).value
    return PricedModel(provider, model, context_window(model), fresh, output, ratio)
