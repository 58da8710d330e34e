"""What servers' certificates are checked by: loaded once, since an SDK's client would load it for each request."""

from functools import cache
from ssl import SSLContext


@cache
def certificates() -> SSLContext:
    """Return the authorities that are trusted, as an SDK would by itself; loading them takes 40 ms."""
    from httpx2 import create_ssl_context

    return create_ssl_context()
