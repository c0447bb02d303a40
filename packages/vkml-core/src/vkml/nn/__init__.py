"""Door to the modules of vkml-nn. See `vkml_nn`."""

from vkml.doors import missing as _missing

try:
    from vkml_nn import *
    from vkml_nn import __all__
except ModuleNotFoundError as error:
    raise _missing("nn", error) from None

from vkml.nn import functional, parameter
