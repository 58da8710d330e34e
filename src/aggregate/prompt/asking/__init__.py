"""What a prompt is asked to contain: its request, project and results."""
