"""What can go wrong in building the site."""


class SiteError(Exception):
    """The site cannot be built, or what was built is not sound: one sentence says what, where and what to do."""
