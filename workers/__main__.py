"""`python -m nextlevel.workers`: one worker; with `--isolated TENANT TURN` it takes that turn through, and ends."""

import argparse
import asyncio
import sys
from uuid import UUID

from nextlevel import log, settings
from nextlevel.errors import Misconfigured

from . import worker


def main() -> int:
    """Run the process; exit code 2 where it is set up wrongly."""
    parser = argparse.ArgumentParser(prog="nextlevel work", description=__doc__)
    parser.add_argument("--isolated", nargs=2, metavar=("TENANT", "TURN"), help="take one turn through, and end")
    arguments = parser.parse_args()
    try:
        loaded = settings.load()
        log.setup(loaded.log_level)
        if arguments.isolated:
            tenant, turn = arguments.isolated
            asyncio.run(worker.run_isolated(loaded, UUID(tenant), turn))
        else:
            asyncio.run(worker.run(loaded))
    except Misconfigured as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
