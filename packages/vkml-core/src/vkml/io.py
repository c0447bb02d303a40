"""Door to vkml-io: checkpoints that cannot execute code. See `vkml_io`."""

from vkml_io import *
from vkml_io import __all__
