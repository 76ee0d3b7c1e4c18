"""Files that people hand us are cut off, mixed up and mistyped: the message must lead to the very line."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from nextlevel import jsonl
from nextlevel.errors import UnusableFile


class Row(BaseModel):
    id: str
    n: int = 0


def test_each_line_is_read_blank_ones_passed_over_and_a_byte_order_mark_too(tmp_path: Path) -> None:
    """Editors on Windows add one, and people end files as they like."""
    file = tmp_path / "rows.jsonl"
    file.write_bytes('\ufeff{"id": "ä"}\n\n{"id": "b", "n": 2, "more": true}\r\n'.encode())
    assert [Row(id="ä"), Row(id="b", n=2)] == jsonl.read(file, Row)


@pytest.mark.parametrize(
    ("second_line", "told"),
    [
        (b'{"id": "b", "n": "tw', r"rows\.jsonl:2: not JSON, or cut off"),
        (b"[1, 2]", r"rows\.jsonl:2: a JSON object is expected, not list"),
        (b'{"n": 2}', r"rows\.jsonl:2: id: Field required"),
        (b'{"id": "b", "n": "two"}', r"rows\.jsonl:2: n: Input should be a valid integer"),
        (b'{"id": "\xff"}', r"rows\.jsonl:2: not UTF-8 \(byte 8 of the line\)"),
        (b"[" * 100_000, r"rows\.jsonl:2: not JSON"),
    ],
)
def test_a_wrong_line_is_told_by_file_line_and_fault(tmp_path: Path, second_line: bytes, told: str) -> None:
    """Whoever labels a thousand lines by hand needs the number of the one."""
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b'{"id": "a"}\n' + second_line)
    with pytest.raises(UnusableFile, match=told):
        jsonl.read(file, Row)


def test_a_file_that_is_not_there_or_is_none_is_told_by_name(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match=r"absent\.jsonl: No such file"):
        jsonl.read(tmp_path / "absent.jsonl", Row)
    with pytest.raises(UnusableFile, match="Is a directory"):
        jsonl.read(tmp_path, Row)
    with pytest.raises(UnusableFile, match="can't be written"):
        jsonl.write(tmp_path, [])


def test_writing_overwrites_and_keeps_every_letter(tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    file.write_text("old\n" * 100)
    jsonl.write(file, [{"id": "每周四"}])
    assert '{"id": "每周四"}\n' == file.read_text(encoding="utf-8")
