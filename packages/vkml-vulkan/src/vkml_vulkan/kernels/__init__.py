"""The kernels: one module for each way of running a shader, found by name in `kernel_table`."""
