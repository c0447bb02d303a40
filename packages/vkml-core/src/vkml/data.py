"""Door to the data sets and loaders of vkml-nn. See `vkml_nn.data`."""

from vkml.doors import missing as _missing

try:
    from vkml_nn.data import *
    from vkml_nn.data import __all__
except ModuleNotFoundError as error:
    raise _missing("data", error) from None
