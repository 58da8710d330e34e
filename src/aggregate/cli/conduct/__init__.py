"""``conduct``: run the tickets of tracks, on one or many machines, and manage runs."""
