"""Say what is wrong with a rule file that clingo cannot read, in words of people who write their first rules.

What stands in strings and comments is blanked first (`code_of`), so that whatever is left is language. Only
ASCII is allowed there: clingo takes nothing else, and its message about anything else may be cut within a
character, which its Python interface does not survive. So these characters are refused before it reads them.

For a syntax error, clingo names what it did not expect and where. `explained` adds the one mistake that fits
what stands there, or nothing: a hint that does not fit costs more time than none.
"""

import re
import unicodedata
from collections.abc import Iterator

from caspr.errors import InputError
from caspr.task.own_rules import RuleFile

_UNREAD = re.compile(r'"(?:[^"\\\n\0]|\\[\\n"])*"|%\*(?s:[^\0]*?)\*%|%[^\n\0]*')
"""Strings and comments."""
_PLACE = re.compile(r"<\w+>:(\d+):(\d+)")
_QUOTES = "“”„‟«»‹›‘’‚‛″＂"
_MEANT = {"≠": "!=", "≤": "<=", "≥": ">=", "–": "-", "—": "-", "−": "-", "←": ":-", "\0": ""}
IF = "'if' is written :-"
_NUMBER = re.compile(r"(?<![\w'])(?:0x[\da-fA-F]+|0o[0-7]+|0b[01]+|\d+)")
LARGEST = 2**31 - 1
"""The largest number of clingo's language; others wrap around in silence."""
LONGEST = 50_000
"""Longer rules are refused: clingo's parser and its syntax trees go as deep as terms are nested."""
_STOP = re.compile(r"(?<!\.)\.(?![.\d])")


def code_of(text: str) -> str:
    """Blank strings and comments, byte by byte, as clingo counts columns in bytes.

    >>> code_of('p("über"). % so')
    'p("_____").     '
    """

    def blank(match: re.Match[str]) -> str:
        if match[0].startswith('"'):
            return '"' + "_" * (len(match[0].encode()) - 2) + '"'
        return re.sub(rb"[^\n]", b" ", match[0].encode()).decode()

    return _UNREAD.sub(blank, text)


def refuse_foreign(file: RuleFile) -> None:
    """Refuse characters outside of strings and comments that are not ASCII, and say what to type instead."""
    for number, line in enumerate(code_of(file.text).split("\n"), 1):
        match = re.search(r"[^\x01-\x7f]", line)
        if match is not None:
            found, expected = _typed(match[0], line, match.start())
            raise InputError(f"{file.name}:{number}: found {found}, expected {expected}")


def refuse_large(file: RuleFile) -> None:
    """Refuse numbers that clingo would take for others, and rules that are too long for its parser."""
    code = code_of(file.text)

    def refuse(at: int, found: str, expected: str) -> None:
        line = code.count("\n", 0, at) + 1
        raise InputError(f"{file.name}:{line}: found {found}, expected {expected}")

    for match in _NUMBER.finditer(code):
        if int(match[0], 0 if match[0][1:2].isalpha() else 10) > LARGEST:
            refuse(match.start(), match[0], f"numbers up to {LARGEST:,}")
    begin = 0
    for end in (*(stop.end() for stop in _STOP.finditer(code)), len(code)):
        rule = code[begin:end].lstrip()
        if len(rule) > LONGEST and len("".join(rule.split())) > LONGEST:
            refuse(end - len(rule), f"a rule of over {LONGEST:,} characters", "several rules")
        begin = end


def _typed(char: str, line: str, at: int) -> tuple[str, str]:
    """Return what was found and what to type instead of a character."""
    meant = _MEANT.get(char, unicodedata.normalize("NFKC", char))
    if char in _QUOTES:
        return char, 'straight quotes around words of the text, as in "the market"'
    if meant.isspace() or unicodedata.category(char) in ("Cf", "Cc"):
        name = unicodedata.name(char, f"character {ord(char)}").lower()
        return f"a special character ({name})", "an ordinary space, or none"
    if line.count('"') % 2 or line[:at].count('"') % 2:
        return char, "words of the text between two double quotes: is one missing? (a \\ is written twice)"
    if char.isalpha():
        (word,) = (one for one in re.finditer(r"\w+", line) if one.start() <= at < one.end())
        return word[0], 'words of your own in a to z; words of the text stand in quotes, as in "she"'
    return char, meant if meant.isascii() else 'such characters only between double quotes, as in "she"'


def explained(file: RuleFile, message: str) -> str:
    """Name the file and the line in clingo's message, and the mistake that fits."""
    words = f"{file.name}:" + " ".join(re.sub(r"<\w+>:(\d+):", r"\1:", message).split())
    match = _PLACE.search(message)
    if match is None:
        return words
    hint = next(_hints(code_of(file.text), int(match[1]), int(match[2])), None)
    return words if hint is None else f"{words}: {hint}"


def _hints(code: str, line: int, column: int) -> Iterator[str]:
    """Yield the mistakes that fit what stands at a place, the surest first."""
    lines = [*code.split("\n"), ""]
    end = sum(len(one) + 1 for one in lines[: line - 1]) + column - 1
    begin = max((stop.end() for stop in _STOP.finditer(code, 0, end)), default=0)
    begin += len(code[begin:end]) - len(code[begin:end].lstrip())
    before, after = code[begin:end], code[end:]
    rest = after[: stop.end()] if (stop := _STOP.search(after)) else after
    found = word[0] if (word := re.match(r"\w+|:-|\S", after)) else ""
    if lines[line - 1].count('"') % 2:
        yield "is a double quote missing?"
    yield from (hint for fits, hint in _mistakes(before, rest, found) if fits)
    first_in_line = not lines[line - 1][: column - 1].strip()
    if found in ("", ":-") or (first_in_line and not before.rstrip().endswith((",", ";", ":-"))):
        rule = code.count("\n", 0, begin) + 1
        yield f"does the rule that begins in line {rule} end with a full stop?"
    if re.match(r'["\w]', found) and re.search(r'["\w)]\s*$', before):
        yield f"is a comma missing before {'the quoted words' if found == _QUOTE else found}?"


_QUOTE = '"'
_INSTEAD_OF_IF = "instead of 'if', write :- with the consequence on its left"


def _mistakes(before: str, rest: str, found: str) -> Iterator[tuple[object, str]]:
    """Yield what people write who do not know the language: whether it stands here, and what is right."""
    near, statement = before[-4:] + rest[:4], before + rest
    yield found == "and", "instead of 'and', write a comma"
    yield found == "or", "instead of 'or', write two rules with the same left side"
    yield found in ("if", "then") or re.match(r"if\b", before), _INSTEAD_OF_IF
    bare = re.match("[a-z]", found) and re.search(r"[,(]\s*[a-z]\w*\s+$", before)
    yield "'" in statement or bare, 'words of the text stand between double quotes, as in "she"'
    yield re.search(r"=/=|=\\=|/=|\\=|~=|=!=|<>", near), "'differs' is written !="
    yield re.search(r"<-|->|:=|=:", near), IF
    yield re.search(r"\d\.\d", near), "numbers are whole: write 1 or 2 for 1.5, or double all costs"
    capital = re.search(r"\b([A-Z])(\w*)\s*$", before)
    name = capital[1].lower() + capital[2] if capital else ""
    yield found == "(" and name, f"words of your own begin with a small letter: {name}"
    missing = statement.count("(") - statement.count(")")
    yield missing > 0 and found in (".", ":-", ""), "is a closing parenthesis missing?"
    yield missing < 0 and found == ")", "is there one parenthesis too many, or is one missing before it?"


def unsafe(message: str, rule: str = "") -> str:
    """Say which variables of a rule stand for nothing, if that is clingo's message; else nothing.

    >>> unsafe("error: unsafe variables in: forbid(M1,M2):-[...] note: 'M2' is unsafe")
    "nothing on the right says what M2 is; text(M2,_) there would ('not' before something says nothing)"
    """
    names = sorted({"_" if "#" in name else name for name in re.findall(r"'([\w#]+)' is unsafe", message)})
    if not names:
        return ""
    if names == ["_"]:
        return "nothing on the right says what _ on the left is: give it a name on both sides"
    says = f"nothing on the right says what {' and '.join(names)} {'is' if len(names) == 1 else 'are'}"
    small = [name.lower() for name in names if re.search(rf"\b{name.lower()}\b", code_of(rule))]
    if small:
        return f"{says}: {' and '.join(small)} there begin{'s' * (len(small) == 1)} with a small letter"
    example = (
        f"text({names[0]},_) there would" if re.fullmatch(r"M\d*", names[0]) else "only a predicate does"
    )
    return f"{says}; {example} ('not' before something says nothing)"
