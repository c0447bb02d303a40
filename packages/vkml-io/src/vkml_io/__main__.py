"""`python -m vkml_io` is the command `vkml-io`."""

import sys

from vkml_io.cli import main

sys.exit(main())
