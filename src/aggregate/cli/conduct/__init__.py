"""``conduct``: run the tickets of tracks, and manage runs.

The tickets run on one or many machines.
"""
