"""`python -m tenor` is `tenor`."""

from tenor.cli import main

main()
