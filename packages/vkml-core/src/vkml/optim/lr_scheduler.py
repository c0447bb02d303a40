"""Door to the step-size schedules of vkml-nn. See `vkml_nn.schedules`."""

from vkml.doors import missing as _missing

try:
    from vkml_nn.schedules import *
    from vkml_nn.schedules import __all__
except ModuleNotFoundError as error:
    raise _missing("optim", error) from None
