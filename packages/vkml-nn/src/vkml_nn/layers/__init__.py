"""The layers, one module for each family."""
