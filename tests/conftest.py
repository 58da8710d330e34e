"""Settings of all tests."""

from hypothesis import settings

# No test is timed: machines are shared, and the first example often loads a vocabulary or a grammar. The default run
# draws the same examples each time, so that it fails for a change and not by chance; --hypothesis-profile explore
# draws new ones, and more.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=400)
settings.load_profile("steady")
