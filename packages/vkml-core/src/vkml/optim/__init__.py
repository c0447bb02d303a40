"""Door to the optimisers of vkml-nn. See `vkml_nn.optimizers`."""

from vkml.doors import missing as _missing

try:
    from vkml_nn.optimizers import *
    from vkml_nn.optimizers import __all__
except ModuleNotFoundError as error:
    raise _missing("optim", error) from None
