"""Compose exactly the prompt that a language model should see."""
