"""Tests of finding and replacing secrets."""
