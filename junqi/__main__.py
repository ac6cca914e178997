"""``python -m junqi`` is the command ``junqi``."""

from junqi.cli import main

if __name__ == "__main__":
    main()
