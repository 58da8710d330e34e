"""The sections of a prompt: one function each, from data to segments."""
