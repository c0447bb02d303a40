"""The Vulkan backend of vkML.

Version 0.1 holds no backend yet: the package can be installed and imported, and nothing else.
Importing it opens nothing, neither a driver nor a device.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
