"""From bytes to text: byte-order mark, strict UTF-8, lines in another encoding, then older encodings. Every step that
is not plain UTF-8 is told in a note, damaged letters too."""

from __future__ import annotations

import codecs
import re

from outcrop_schemas.errors import DataError

BYTE_ORDER_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
MARKED = {
    b"\xff\xfe\x00\x00": "utf-32-le",
    b"\x00\x00\xfe\xff": "utf-32-be",
    b"\xef\xbb\xbf": "utf-8",
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
}
"""What a byte-order mark says of the text behind it."""
OTHER_SCRIPTS = frozenset(
    {"GB18030", "GB2312", "GBK", "BIG5", "BIG5HKSCS", "CP932", "SHIFT_JIS", "EUC-JP", "CP949", "EUC-KR"}
    | {"WINDOWS-1251", "KOI8-R", "KOI8-U", "CP866", "ISO-8859-5", "WINDOWS-1253", "ISO-8859-7"}
)
"""What is believed where it is found; Western code pages are all read as Windows-1252."""
HIGH_RUN = re.compile(rb"[\x80-\xff]{2,}")
HIGH = re.compile(rb"[\x80-\xff]")
IN_RUNS = 0.7
"""In Western text a letter beyond ASCII stands between ASCII letters; in other scripts such bytes stand in runs."""
SAMPLED_BYTES = 200_000
SAMPLED_BYTES_OF_SCRIPT = 32_000
"""Of a text that is read in pieces: to tell the script of more takes too long for a first answer."""
CONTROLS = re.compile(rb"[\x01-\x07\x0e-\x1a\x1c-\x1f\x7f]")
CONTROL_SHARE = 0.02
NUL_SHARE = 0.3
MOJIBAKE = re.compile("Ã[\u0080-\u00bf]|Â[\u00a0-\u00bf]|â€[\u0080-\u00bf™œ“”˜¦–¢]|Î¼|\\d∞")
"""UTF-8 that was read as Windows-1252 and saved, and the degree sign of an old Mac."""


def decode(name: str, data: bytes) -> tuple[str, list[str]]:
    """The text of a file with line ends as \\n, and notes. Raises DataError for binary content."""
    notes: list[str] = []
    text = _decode(name, data, notes)
    if "\r" in text:
        if "\n" not in text:
            notes.append("line ends are CR only")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise DataError(f"{name}: is binary (NUL character in line {_line(text, text.index(chr(0)))})")
    _note_damage(text, notes)
    return text, notes


def encoding_of(name: str, sample: bytes) -> str:
    """The encoding of a text by its first bytes, for one that is read in pieces; marks included. `utf-8` is also what
    mostly is: a few lines in Windows-1252 may be in it. Raises DataError for binary content."""
    mark = next((mark for mark, _ in BYTE_ORDER_MARKS if sample.startswith(mark)), b"")
    if mark:
        return MARKED[mark]
    if b"\0" in sample:
        return _unmarked_utf16(name, sample[: len(sample) // 2 * 2])
    if _is_text_in("utf-8", sample) or _decode_mixed(sample[: sample.rfind(b"\n") + 1], []):
        encoding = "utf-8"
    else:
        other = _other_script(sample[:SAMPLED_BYTES_OF_SCRIPT])
        encoding = other if other and _is_text_in(other, sample) else "cp1252"
    if len(CONTROLS.findall(sample)) > CONTROL_SHARE * len(sample):
        raise DataError(f"{name}: is binary (control characters)")
    if encoding == "cp1252":
        _decode_cp1252(name, sample)
    return encoding


def _is_text_in(encoding: str, sample: bytes) -> bool:
    """Whether a sample is text in an encoding; its last character may be cut."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def _decode(name: str, data: bytes, notes: list[str]) -> str:
    encoding = next((found for mark, found in BYTE_ORDER_MARKS if data.startswith(mark)), None)
    if encoding is None and b"\0" in data:
        encoding = _unmarked_utf16(name, data)
        notes.append("CHECK: no byte-order mark; read as UTF-16 because every second byte is 0")
    try:
        text = data.decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        if encoding is not None:
            raise DataError(f"{name}: begins as {encoding} but is not valid at byte {error.start}") from error
        return _decode_older(name, data, error.start, notes)
    if encoding and encoding != "utf-8-sig":
        order = "little" if data.startswith(b"\xff\xfe") or encoding.endswith("le") else "big"
        mark = "" if notes else ", with a byte-order mark"
        notes.append(f"read as {encoding.upper()[:6]} ({order}-endian{mark})")
    return text


def _unmarked_utf16(name: str, data: bytes) -> str:
    sample = data[: SAMPLED_BYTES // 2 * 2]
    even, odd = (sample[start::2].count(0) / max(1, len(sample) // 2) for start in (0, 1))
    if len(data) % 2 == 0 and max(even, odd) > NUL_SHARE and min(even, odd) == 0:
        return "utf-16-le" if odd > even else "utf-16-be"
    raise DataError(
        f"{name}: is binary (NUL byte at offset {data.index(0)}); if it is UTF-16 text without "
        "a byte-order mark, save it as UTF-8"
    )


def _decode_older(name: str, data: bytes, at: int, notes: list[str]) -> str:
    mixed = _decode_mixed(data, notes)
    if mixed is not None:
        return mixed
    encoding = _other_script(data)
    if encoding is not None:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            pass  # what was found from a sample does not hold for the whole
        else:
            notes.append(f"CHECK: not UTF-8 at byte {at}: read as {encoding}, which was found from its bytes")
            return text
    text = _decode_cp1252(name, data)
    foreign = sum(not character.isascii() for character in text)
    notes.append(f"not UTF-8 at byte {at}: read as Windows-1252 ({foreign} letters beyond ASCII)")
    return text


def _decode_mixed(data: bytes, notes: list[str]) -> str | None:
    """UTF-8 with a few lines of Windows-1252 in it; None where most lines with letters beyond ASCII are no UTF-8."""
    lines: list[str] = []
    wrong: list[int] = []
    right = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            lines.append(line.decode())
            right += not line.isascii()
        except UnicodeDecodeError:
            wrong.append(number)
            try:
                lines.append(line.decode("cp1252"))
            except UnicodeDecodeError:
                return None
        if not right and len(wrong) > 1_000:
            return None
    if right < len(wrong):
        return None
    notes.append(f"{len(wrong)} lines are not UTF-8 and were read as Windows-1252, the first is line {wrong[0]}")
    return "\n".join(lines)


def _other_script(data: bytes) -> str | None:
    sample = data[:SAMPLED_BYTES]
    high = len(HIGH.findall(sample))
    if high < 2 or sum(map(len, HIGH_RUN.findall(sample))) < IN_RUNS * high:
        return None
    import chardet

    found = chardet.detect(sample)["encoding"]
    return found if found and found.upper() in OTHER_SCRIPTS else None


def _decode_cp1252(name: str, data: bytes) -> str:
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{name}: is neither UTF-8 nor Windows-1252 text (byte {error.start}); save it as UTF-8"
        ) from error


def _note_damage(text: str, notes: list[str]) -> None:
    if text.isascii():
        return
    lost = text.count("\ufffd")
    if lost:
        where = _line(text, text.index("\ufffd"))
        notes.append(f"CHECK: {lost} letters were lost before (U+FFFD stands for them), the first in line {where}")
    damaged = list(MOJIBAKE.finditer(text))
    if damaged:
        where = _line(text, damaged[0].start())
        notes.append(
            f"SUSPECTED damaged letters (text saved in a wrong encoding): {len(damaged)} places, the first in line "
            f"{where}; kept as they are"
        )


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
