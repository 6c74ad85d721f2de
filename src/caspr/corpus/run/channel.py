"""Messages through a pipe: eight bytes of length, then a pickled value.

Both ends are our own processes of the same version; nothing from outside is ever unpickled.
"""

import pickle
import struct
from typing import IO, Any

_LENGTH = struct.Struct(">Q")


def send(stream: IO[bytes], value: Any) -> None:
    """Write one message."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read one message; `None` when the other end is closed."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    return pickle.loads(data) if len(data) == length else None


class Mailbox:
    """Collect a message that comes in parts, without ever waiting for it."""

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, data: bytes) -> None:
        """Keep one more part."""
        self._data += data

    def take(self) -> Any:
        """Return the message once it is whole, before that `None`."""
        if len(self._data) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._data)
        end = _LENGTH.size + length
        if len(self._data) < end:
            return None
        value = pickle.loads(memoryview(self._data)[_LENGTH.size : end])
        self._data = bytearray()
        return value
