"""Pure data: what flows between the rooms. Nothing here reads, writes or imports another room."""
