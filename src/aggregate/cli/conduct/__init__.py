"""``conduct``: run the tickets of tracks, here or on many machines, and look after the runs."""
