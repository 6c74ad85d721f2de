"""Files changed at random in a few places."""

import random

PIECES = [
    *(
        b"\n",
        b"\t",
        b" ",
        b"|",
        b"(",
        b")",
        b"[",
        b"]",
        b"{",
        b"}",
        b'"',
        b"'",
        b"<",
        b">",
        b"&",
        b"/>",
        b"->",
        b"\\",
    ),
    *(
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xf0\x9f\x98\x80",
        b"-1",
        b"0",
        b"9999999999",
        b"_",
        b"*",
        b"#",
        b";",
        b"=",
    ),
]


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Change a file in a few places."""
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice([0, 0, 1, 1, 5, 60]))
        middle = chance.choice(
            [b"", chance.choice(PIECES), data[start:end] * 2, data[: chance.randrange(80)]]
        )
        data = data[:start] + middle + data[end:]
    return data
