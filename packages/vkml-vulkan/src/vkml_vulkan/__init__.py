"""The Vulkan backend of vkML: tensors and training on the GPU of any vendor.

Installing it is enough: ``vkml.device("vulkan")`` finds the backend by its entry point. Importing
opens nothing, neither the loader nor a driver nor a device. The errors that a program may want to
catch are in `vkml_vulkan.errors`.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
