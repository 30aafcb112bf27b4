"""Inputs made of good ones: pieces cut out, repeated, moved and replaced by what broke readers before."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

LONGEST = 200_000
WORDS: tuple[bytes, ...] = (
    *(b"", b"\0", b" ", b"\n", b"\r\n\r\n", b"\t", b'"', b"'", b"\\", b"<", b">", b"<a ", b"</", b"<!--", b"&#9", b"&"),
    *(
        b"[",
        b"]",
        b"{",
        b"}",
        b"(",
        b",",
        b";",
        b":",
        b"=",
        b"--",
        b"%",
        b"*",
        b"|",
        b"&a ",
        b"*a",
        b"!!python/x ",
        b"- ",
    ),
    *(b"-1", b"0", b"9" * 19, b"9" * 5000, b"1e999", b"-1e999", b"NaN", b"Infinity", b"null", b"true", b"[]", b"{}"),
    *(b"\\ud800", b"\\u0000", b"\xed\xa0\x80", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", "٣".encode(), "\u202e".encode()),
    *(b"idna", b"utf-7", b"base64", b"Content-Type: ", b"charset=", b"boundary=", b"=?utf-8?q?=", b"=?idna?b?/w==?="),
    *(
        b"9999-12-31T23:59:59-23:59",
        b"0001-01-01",
        b"12:99",
        b"\xff\xff\xff\xff",
        b"\0\0\0\0",
        b"\x80\0\0\0",
        b"\x7f\xff",
    ),
)
EDITS = ("word", "word", "replace", "replace", "cut", "repeat", "bytes", "splice", "swap")


@st.composite
def mutated(draw: st.DrawFn, corpus: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    """One of the corpus, changed in some places; or, seldom, nothing that was ever good."""
    content = bytearray(draw(st.sampled_from(corpus)))
    for _ in range(draw(st.integers(0, 5))):
        at, length = draw(st.integers(0, len(content))), draw(st.integers(0, 60))
        match draw(st.sampled_from(EDITS)):
            case "word":
                content[at:at] = draw(st.sampled_from(words))
            case "replace":
                content[at : at + length] = draw(st.sampled_from(words))
            case "cut":
                del content[at : at + length]
            case "repeat":
                content[at:at] = bytes(content[at : at + length]) * draw(st.sampled_from((1, 2, 30, 2000)))
            case "bytes":
                content[at : at + 4] = draw(st.binary(max_size=4))
            case "splice":
                other = draw(st.sampled_from(corpus))
                content[at:] = other[draw(st.integers(0, len(other))) :]
            case "swap":
                content = content[at:] + content[:at]
        del content[LONGEST:]
    return bytes(content)
