"""Run the command line with `python -m caspr`."""

from caspr.cli import main

if __name__ == "__main__":
    main()
