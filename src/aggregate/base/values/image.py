"""An image that goes with a prompt."""

import hashlib
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Image:
    """One image as it is sent.

    Attributes:
        path: As the prompt's link shows it.
        media_type: Such as ``image/png``, by its content.
        data: The bytes of the file.
        width: In pixels.
        height: In pixels.
    """

    path: str
    media_type: str
    data: bytes = field(repr=False)
    width: int
    height: int

    @property
    def digest(self) -> str:
        """A hash of the bytes, 16 hexadecimal digits."""
        return hashlib.blake2b(self.data, digest_size=8).hexdigest()
