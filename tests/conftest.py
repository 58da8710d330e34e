"""Settings of all tests."""

from hypothesis import settings

# No test is timed: machines are shared, and the first example often loads a vocabulary or a grammar.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
