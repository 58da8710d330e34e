"""Send a prompt to a model: one protocol, a cache plan by each provider's rules, and one small adapter per provider."""
