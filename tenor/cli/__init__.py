"""The command line: the one place that knows every stage and puts them together.

main --> app --> commands/, one file per command in the folder of its heading
"""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point. When somebody else's packages stand in place of ours, no command may load at all: that is said."""
    try:
        from tenor.cli.app import run
    except (ImportError, AttributeError):
        from tenor.cli import own_packages

        found = own_packages.overwritten() or own_packages.shadowed()
        if found is None:
            raise
        sys.stderr.write(f"error: {found.message}\n       {found.remedy}\n")
        sys.exit(1)
    run()
