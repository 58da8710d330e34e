"""Tests of the index: results cached for the next run."""
