"""Inputs made bad: real ones with bits flipped, pieces cut, doubled, exchanged, and with what has broken readers."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

NASTY: tuple[bytes, ...] = (
    b"\x00",
    b"\x0b",
    b"\x0c",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\x1a",
    b"\x1b]0;x\x07",
    b"\x85",
    b"\xa0",
    b"\xc2\xa0",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xe2\x80\xa8",
    b"\xed\xa0\x80",
    b"\\ud800",
    b'"\\udfff"',
    b"\xc2\xb2",
    b"\xd9\xa3",
    b"9" * 30,
    b"9" * 400,
    b"9" * 5000,
    b"-2147483649",
    b"1e999",
    b"-1e309",
    b"NaN",
    b"Infinity",
    b"-0",
    b"0x10",
    b"1_000",
    b"[" * 40,
    b"[" * 2000,
    b'{"a":' * 1200,
    b"{",
    b"}",
    b"(",
    b")",
    b'"',
    b"'",
    b"\\",
    b",",
    b";",
    b"\t",
    b":",
    b"null",
    b"true",
    b"{}",
    b"[]",
    b'""',
    b"=1+1",
    b"@x",
    b"%",
    b"[%eval #" + b"9" * 60 + b"]",
    b"[%clk 1:" + b"0" * 500 + b":1]",
    b"[%eval " + b"1" * 300,
    b'[Event "',
    b'"] [White "x"]',
    b"x" * 9000,
    b"$1",
    b"--",
    b"e8=",
    b"0-1",
    b"*",
    b"\xf0\x9f\x98\x80",
)
"""What is put in anywhere."""

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")


def mutated(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """Return the input with one to six mutations; the same random numbers give the same bytes."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        data = rng.choice(_MUTATIONS)(data, others, rng)
    return data


def _place(data: bytes, rng: random.Random) -> int:
    return rng.randrange(len(data) + 1)


def _span(data: bytes, rng: random.Random) -> tuple[int, int]:
    at = _place(data, rng)
    return at, at + rng.choice((1, 2, 8, 40, 200))


def _flip(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    if not data:
        return b"\x01"
    out = bytearray(data)
    bit = rng.randrange(8 * len(out))
    out[bit // 8] ^= 1 << bit % 8
    return bytes(out)


def _noise(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    low, high = _span(data, rng)
    return data[:low] + rng.randbytes(high - low) + data[high:]


def _drop(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    low, high = _span(data, rng)
    return data[:low] + data[high:]


def _double(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    low, high = _span(data, rng)
    return data[:high] + data[low:high] * rng.choice((1, 1, 3, 30)) + data[high:]


def _cut(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    return data[: _place(data, rng)]


def _nasty(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + rng.choice(NASTY) + data[at:]


def _number(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """Put something nasty in the place of a number: most of them are where a number is expected."""
    found = _NUMBER.search(data, _place(data, rng))
    return data[: found.start()] + rng.choice(NASTY) + data[found.end() :] if found else data


def _lines(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[two] = lines[two], rng.choice((lines[one], lines[two], b""))
    return b"\n".join(lines)


def _ends(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    return data.replace(b"\n", rng.choice((b"\r", b"\r\n", b"\n\n", b"\x0b", b"")), rng.choice((1, -1)))


def _splice(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    other = rng.choice(others)
    return data[: _place(data, rng)] + other[_place(other, rng) :]


_MUTATIONS: tuple[Callable[[bytes, Sequence[bytes], random.Random], bytes], ...] = (
    _flip, _flip, _flip, _noise, _drop, _double, _cut, _nasty, _nasty, _number, _number, _lines, _ends, _splice,
)  # fmt: skip
