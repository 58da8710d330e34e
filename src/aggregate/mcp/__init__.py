"""A server of the Model Context Protocol, through which agents ask for prompts, files and what they hold."""
