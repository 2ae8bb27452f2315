"""Who leaves before his answer is begun."""

from __future__ import annotations

import asyncio
import gc
from unittest.mock import Mock

from pytest_agentcontract.provider.http import Connection


def test_an_answer_that_is_not_begun_is_given_up_without_a_word() -> None:
    """The coroutine is closed: Python would warn of one that nobody ever awaits, in whichever test comes next."""
    begun = []

    async def answer() -> None:
        begun.append(1)

    async def leave_at_once() -> None:
        connection = Connection(lambda *_: answer(), set())
        connection.connection_made(Mock(is_closing=Mock(return_value=False)))
        connection.data_received(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        task = connection.task
        assert task is not None
        connection.connection_lost(None)
        await asyncio.wait([task])

    asyncio.run(leave_at_once())
    gc.collect()
    assert begun == []
