"""Clients of language models: requests, retries, prices, and an adapter per provider."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.sending.clients.client import *
    from aggregate.sending.clients.connection import *
    from aggregate.sending.clients.deltas import *
    from aggregate.sending.clients.layers import *
    from aggregate.sending.clients.providers import *
else:
    __getattr__ = door(
        __name__,
        {
            "client": "Ask ChatRequest Client Effort loop_texts OnText Retry Script scripted_client ScriptedTransport",
            "connection": "refuses_tools",
            "deltas": "LeadingThoughts",
            "layers": "charged redacting",
            "providers": "NAMES PROVIDERS open_client priced_models provider_of_model",
        },
    )
