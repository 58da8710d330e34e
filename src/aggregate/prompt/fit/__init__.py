"""What fits into a number of tokens: an order that the budget does not change, and how far down that order it goes."""
