"""The engine that does nothing wrong."""

from base import Engine, run

if __name__ == "__main__":
    run(Engine())
