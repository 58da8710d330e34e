"""Fit files into a token budget: an order of steps, taken until the budget is spent."""
