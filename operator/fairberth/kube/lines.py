"""Lines out of chunks: a watch sends one JSON object a line, of any length, cut anywhere."""

from __future__ import annotations

from collections.abc import AsyncIterator


async def lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Each whole line without its end; empty ones are left out, and so is an unfinished last one."""
    begun: list[bytes] = []  # joined once, when the end comes: a long line is not copied with each chunk
    async for chunk in chunks:
        first, *others = chunk.split(b"\n")
        begun.append(first)
        if not others:
            continue
        whole = b"".join(begun)
        *between, last = others
        begun = [last]
        if whole:
            yield whole
        for line in between:
            if line:
                yield line
