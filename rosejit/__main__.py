"""`python -m rosejit`: see `rosejit.cli`."""

import sys

from rosejit.cli import main

sys.exit(main())
