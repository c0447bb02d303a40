"""Backends: the interface they share, how they are found, and the two that come with core."""
