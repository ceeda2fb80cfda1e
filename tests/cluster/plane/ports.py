"""Free loopback ports for programs that must be told theirs."""

import contextlib
import random
import socket

_BELOW_EPHEMERAL = range(20000, 32000)  # the kernel gives outgoing connections none of these


def free_ports(count: int) -> list[int]:
    """`count` different loopback ports that were free a moment ago."""
    with contextlib.ExitStack() as held:
        return [_hold_one(held) for _ in range(count)]


def _hold_one(held: contextlib.ExitStack) -> int:
    while True:
        port = random.choice(_BELOW_EPHEMERAL)
        candidate = held.enter_context(socket.socket())
        try:
            candidate.bind(("127.0.0.1", port))
        except OSError:
            continue
        return port
