"""Door to the functions that modules are made of. See `vkml_nn.functional`."""

from vkml.doors import missing as _missing

try:
    from vkml_nn.functional import *
    from vkml_nn.functional import __all__
except ModuleNotFoundError as error:
    raise _missing("nn", error) from None
