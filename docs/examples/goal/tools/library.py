"""Tools of a small library: an example for `aggregate goal --tools`."""

from typing import Any

from aggregate.agents.tools import tool

BOOKS = (
    {"id": 1, "title": "Emma", "year": 1815},
    {"id": 2, "title": "Dracula", "year": 1897},
    {"id": 3, "title": "Ulysses", "year": 1922},
)
READERS = {1: ["Ann", "Bo"], 2: [], 3: ["Cy"]}


@tool
def listBooks() -> dict[str, Any]:  # noqa: N802 - tools are camelCase
    """List the books of the library."""
    return {"success": True, "books": list(BOOKS)}


@tool
def getReaders(book_id: int) -> dict[str, Any]:  # noqa: N802 - tools are camelCase
    """Get who has borrowed one book.

    Args:
        book_id: Its id.
    """
    if book_id not in READERS:
        return {
            "success": False,
            "error": f"there is no book {book_id}",
            "retry": True,
            "hint": "listBooks has the ids",
        }
    return {"success": True, "readers": READERS[book_id]}
