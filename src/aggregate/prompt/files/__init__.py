"""From paths to shown files: selection, reading, rendering and sizes."""
