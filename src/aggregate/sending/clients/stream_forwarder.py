"""The pieces of an answer on their way to the caller."""

from dataclasses import dataclass, field

from aggregate.base.values import SurrogateJoiner
from aggregate.sending.clients.protocol import OnText


class StreamCallbackError(Exception):
    """What the caller's function has raised, on its way past an adapter that would take it for the provider's."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(slots=True)
class StreamForwarder:
    """Passes the pieces of an answer on as text that a file can hold, and knows whether there was one."""

    on_text: OnText
    has_begun: bool = False
    unicode: SurrogateJoiner = field(default_factory=SurrogateJoiner)

    def __call__(self, piece: str) -> None:
        """Pass a piece on; one that is no text is the server's fault, not the caller's."""
        if not isinstance(piece, str):
            raise TypeError("a piece of the answer is no text")
        self.has_begun = True
        try:
            self.on_text(self.unicode.add(piece))
        except Exception as error:  # noqa: BLE001 - it reaches the caller as it is
            raise StreamCallbackError(error) from None
