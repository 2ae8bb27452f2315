"""The head of a request while it is read: what it says, and what is no request's although a parser lets it pass."""

from __future__ import annotations

from typing import Final

import httptools

MOST_HEADERS: Final = 64 * 1024
MOST_BODY: Final = 256 * 1024 * 1024

_VERSIONS: Final = frozenset({"1.0", "1.1"})
_ADDED_UP: Final = frozenset({"content-encoding", "transfer-encoding"})
_OFFER: Final = frozenset({"connection", "upgrade", "http2-settings", "expect"})


class RefusedError(Exception):
    """Raised through the parser for a head that is no request's; `status` is what to refuse it with."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Head:
    """The target as it came in, in pieces, and the header lines by their names in lower case."""

    __slots__ = ("_overwritten", "headers", "url")

    def __init__(self) -> None:
        self.url, self._overwritten = b"", 0
        self.headers: dict[str, str] = {}

    def repeated(self, key: str, text: str) -> str:
        """Return what a header says that comes again: lists add up, of others the last counts.

        Raise RefusedError for a second host.
        """
        if key == "host":
            raise RefusedError(400)
        before = self.headers.get(key, "")
        if key in _ADDED_UP:
            return f"{before}, {text}"
        self._overwritten += len(key) + len(before) + 4
        return text

    def fault(self, method: bytes, version: str, read: int) -> int:
        """Return the status to refuse a whole head with, of which `read` bytes came at most; 0 for a good one."""
        coding, status = self.headers.get("transfer-encoding"), 0
        if read > MOST_HEADERS and self._size > MOST_HEADERS:
            status = 431
        elif version not in _VERSIONS:
            status = 505
        elif method == b"CONNECT" or (coding is not None and coding.lower() != "chunked"):
            status = 501
        elif b"#" in self.url or (coding is not None and version == "1.0"):
            status = 400
        elif int(self.headers.get("content-length", "0")) > MOST_BODY:
            status = 413
        return status

    def target(self) -> tuple[str, str]:
        """Return the path and the query without its question mark; both are empty where the target can't be one."""
        try:
            parsed = httptools.parse_url(self.url)
        except httptools.HttpParserInvalidURLError:
            return "", ""
        return (parsed.path or b"").decode("latin-1"), (parsed.query or b"").decode("latin-1")

    def without_offer(self, method: bytes, version: str, *, keep_alive: bool) -> bytes:
        """Render this head anew, without an offer to change protocols."""
        kept = {name: value for name, value in self.headers.items() if name not in _OFFER}
        if not keep_alive:
            kept["connection"] = "close"
        lines = "".join(f"{name}: {value}\r\n" for name, value in kept.items())
        return b"%b %b HTTP/%b\r\n%b\r\n" % (method, self.url, version.encode(), lines.encode("latin-1"))

    @property
    def _size(self) -> int:
        lines = sum(len(name) + len(value) + 4 for name, value in self.headers.items())
        return len(self.url) + self._overwritten + lines
