"""NumPy kernels of the CPU backend: plain functions from arrays to fresh arrays.

Kernels import NumPy and each other, nothing else of vkML. Operands may be strided, broadcast
or empty; floating-point warnings are the caller's to silence.
"""
