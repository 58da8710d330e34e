"""Rules of a server's robots.txt."""

from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Rules:
    """Path prefixes that must not be fetched."""

    disallowed: tuple[str, ...]

    def allow(self, address: str) -> bool:
        """Return whether an address may be fetched."""
        path = urlsplit(address).path or "/"
        return not any(path.startswith(start) for start in self.disallowed)


def parse(text: str) -> Rules:
    """Read the rules for all agents."""
    disallowed = []
    is_ours = False
    for line in text.splitlines():
        name, _, value = line.partition("#")[0].partition(":")
        if name.strip().lower() == "user-agent":
            is_ours = value.strip() == "*"
        elif is_ours and name.strip().lower() == "disallow" and value.strip():
            disallowed.append(value.strip())
    return Rules(tuple(disallowed))
