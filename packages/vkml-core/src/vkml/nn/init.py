"""Door to the initialisers of vkml-nn. See `vkml_nn.init`."""

from vkml.doors import missing as _missing

try:
    from vkml_nn.init import *
    from vkml_nn.init import __all__
except ModuleNotFoundError as error:
    raise _missing("nn", error) from None
