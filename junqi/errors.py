"""The errors that are the user's to mend: one clear line each, never a traceback."""


class JunqiError(Exception):
    """Something given to us is not as it should be; the message says what was expected."""

    is_usage = False
    """Whether it is an option or argument of the command line itself that is wrong."""


class InvalidLayout(JunqiError, ValueError):
    """A layout that the rules forbid, or a text that is not a layout."""


class InvalidBoard(JunqiError, ValueError):
    """A drawn or listed board that cannot be read."""


class IllegalMove(JunqiError, ValueError):
    """A move that the rules forbid, or a text that is not a move."""


class InvalidRecord(JunqiError, ValueError):
    """A game record that cannot be read, or that does not follow the rules."""


class ImpossibleEvent(JunqiError, ValueError):
    """A message about the game that cannot be true of the position it speaks of."""


class ProtocolError(JunqiError, ValueError):
    """A line that is none of the contest protocol's."""
