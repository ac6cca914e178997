"""Text files: read with clear words about what is wrong, written whole or not at all."""

import os
import sys
from contextlib import suppress

from junqi.errors import JunqiError

# In the place of a file's name: standard input.
STDIN = "-"


def read_text(path: str) -> str:
    """The text of a file, or of standard input for ``-``.

    Raises:
        JunqiError: if it is not text.
        OSError: if it cannot be read.
    """
    if path == STDIN:
        return decode_text(sys.stdin.buffer.read(), source_name(path))
    with open(path, "rb") as file:
        return decode_text(file.read(), source_name(path))


def source_name(path: str) -> str:
    """What messages call a file."""
    return "standard input" if path == STDIN else path


def decode_text(data: bytes, source: str) -> str:
    """Text of UTF-8, with or without a byte order mark, and with any line ends.

    Raises:
        JunqiError: if it is not text.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        raise JunqiError(
            f"{source}: expected text in UTF-8, got the byte 0x{byte:02x} at offset {error.start}"
        ) from None
    if "\0" in text:
        raise JunqiError(f"{source}: expected text in UTF-8, got binary data")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def write_whole(path: "str | os.PathLike[str]", text: str) -> None:
    """Write a text file that has its name only when it is whole; what had the name stays till then.

    Raises:
        OSError: if it cannot be written.
    """
    folder, name = os.path.split(os.path.realpath(path))  # a link stays a link
    part = os.path.join(folder, f".{name}.part")
    try:
        with open(part, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, os.path.join(folder, name))
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise
