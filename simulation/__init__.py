"""Scripted runs and benchmarks that use the package as its users do."""
