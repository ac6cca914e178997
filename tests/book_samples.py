"""A small book for tests of what is built on books."""

from pathlib import Path

from book.rows import Evidence, NewLayout, Opening, Payoff, Run
from book.store import Book

# In canonical form.
A = "abccddeeffggghhhiiijjkklj"
B = "cbacddeeffggghhhiiijjkklj"
C = "cdgickgefkfebiahjdigjljhh"
LETTERS = (A, B, C)
# The first, with left and right exchanged.
A_MIRRORED = "dccbaeedggffhhgjiiihjlkkj"
ILLEGAL = A[:-2] + "jl"

RUN = "evolve-20261116-030126-9f2c"


def make_book(path: Path) -> Path:
    """A book with three layouts, of which two are in the mixture, and something of everything."""
    with Book.create(path) as book, book.change("make a sample"):
        book.add_run(
            Run(RUN, "junqi layout evolve --seed 1", {"rounds": 3}, seed=1, seconds=2.5, games=90)
        )
        book.add_layouts(
            [
                NewLayout(A, "evolved", "both", 0.75, name="Wall", tags=("mine", "old"), run=RUN),
                NewLayout(B, "human", "both", 0.25, notes="weak on the left\nlost twice"),
                NewLayout(C, "human", "opponent", name="左翼", tags=("mine",)),
            ]
        )
        book.add_evidence(
            [
                Evidence(A, "random:10", "policy", 100, 60, 10, 30, 0.05, 7, "fresh", "0.1.0",
                         f"junqi book evaluate {A} --panel random:10 --games 100 --seed 7"),
                Evidence(B, "random:10", "policy", 100, 40, 0, 60, 0.05, 7),
            ]
        )  # fmt: skip
        book.add_payoffs([Payoff(A, B, "policy", 10, 6, 1, 3, 0.15, seed=3)])
        book.add_openings(
            [
                Opening(A, "start", "G0F0", 0, 50, 0.55, 0.02, 0.75, True, "", "search:5x24"),
                Opening(A, "start", "G2F2", 0, 20, 0.50, 0.05, 0.25, False, "too slow"),
            ]
        )
    return path
