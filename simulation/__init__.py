"""Scripted runs and benchmarks through the public API."""
