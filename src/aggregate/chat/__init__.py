"""A turn of a discussion with a model: what was sent before, who is asked, the answer, and what is recorded of it."""
