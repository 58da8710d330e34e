"""Errors of a transfer."""


class FerryError(Exception):
    """A transfer failed; the message names the address and the reason."""


class GaveUpError(FerryError):
    """All attempts failed.

    Attributes:
        attempts: How many there were.
    """

    def __init__(self, address: str, attempts: int) -> None:
        super().__init__(f"{address}: gave up after {attempts} attempts")
        self.attempts = attempts


class ForbiddenError(FerryError):
    """The server's robots.txt does not allow the address."""
