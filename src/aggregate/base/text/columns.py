"""Format table cells of fixed width, without the start-up time of a table library."""

from rich.cells import cell_len, set_cell_size


def fitted(name: str, width: int) -> str:
    missing = width - cell_len(name)
    return name + " " * missing if missing >= 0 else set_cell_size(name, width - 1) + "…"
