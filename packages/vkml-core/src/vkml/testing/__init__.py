"""What backends and packages test themselves with: samples of operations, the backend suite.

Nothing here needs a test framework.
"""
