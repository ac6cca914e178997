"""What can be wrong with a book, told in one line that the user can act on."""

from junqi.errors import JunqiError


class BookError(JunqiError):
    """A book that cannot be opened, read or changed as asked; the message says why."""


class BookFileError(BookError):
    """The file cannot be read or written: it is damaged, locked, read-only, or the disk is full."""
