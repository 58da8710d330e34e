"""Send a prompt to a model: one port to callers, one to adapters, and one small adapter per provider."""
