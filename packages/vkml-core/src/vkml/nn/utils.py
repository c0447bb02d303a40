"""Door to the gradient and parameter tools of vkml-nn. See `vkml_nn.utils`."""

from vkml.doors import missing as _missing

try:
    from vkml_nn.utils import *
    from vkml_nn.utils import __all__
except ModuleNotFoundError as error:
    raise _missing("nn", error) from None
