"""The panel: one page, served on this machine, on which a prompt is composed by eye."""
