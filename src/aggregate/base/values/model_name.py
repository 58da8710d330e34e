"""What a model's name tells, whoever serves it."""

from typing import Final

AZURE, BEDROCK, VERTEX = "azure", "bedrock", "vertex"
"""The clouds that serve models of other makers: their caches, prices and limits go by the maker."""
CLOUDS: Final = frozenset({AZURE, BEDROCK, VERTEX})


def bare_model_name(model: str) -> str:
    """Return a model's name in small letters, without a vendor, a region or a version of the one who serves it.

    ``us.anthropic.claude-opus-5-v1:0`` and ``publishers/anthropic/models/claude-opus-5@20260301`` begin like
    ``claude-opus-5``.
    """
    name = model.lower().rsplit("/", 1)[-1]
    return name.rpartition("anthropic.")[2] or name


def api_family(provider: str, model: str) -> str:
    """Return the provider whose rules hold for a cloud's model, the provider itself where it is no cloud."""
    if provider == AZURE:
        return "openai"
    if provider == BEDROCK:
        return "anthropic"
    if provider == VERTEX:
        return "anthropic" if bare_model_name(model).startswith("claude") else "gemini"
    return provider
