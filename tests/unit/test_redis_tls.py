"""Redis over TLS: with the authority in the address, and never without a certificate to trust."""

import random
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from state.errors import StateInvalid, StateUnavailable
from state.redis import RedisState, calls
from tests.certificates import Certificates, made
from tests.redis_cluster import running_cluster
from tests.redis_server import free_port, running_redis
from tests.unit.redis_steps import Steps, answered


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Give certificates for servers on 127.0.0.1."""
    return made(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def tls(redis_server: object, certificates: Certificates) -> Iterator[str]:
    """Give host and port of a server that speaks TLS."""
    port = free_port()
    with running_redis(settings={**certificates.settings, "tls-port": port}):
        yield f"127.0.0.1:{port}"


async def walk(url: str) -> None:
    """Open, take random steps, close."""
    steps = Steps(random.Random(random.getrandbits(32)))
    state = RedisState(url, clock=steps.clock)
    await state.open()
    for _ in range(100):
        steps.remember(await answered(steps.draw(), state))
    await state.close()


async def refused(url: str) -> str:
    """Open, which must fail for good; return the line that says why."""
    with pytest.raises(StateInvalid) as caught:
        await walk(url)
    assert "\n" not in str(caught.value)
    return str(caught.value)


async def test_steps_travel_over_tls(tls: str, certificates: Certificates) -> None:
    """The authority is named in the address; all else is as without."""
    await walk(f"rediss://{tls}/0?ssl_ca_certs={certificates.authority}")


async def test_a_cluster_is_spoken_to_over_tls(
    redis_server: object, certificates: Certificates
) -> None:
    """The options of the address serve for every server that it leads to."""
    with running_cluster(2, tls=certificates.settings) as cluster:
        port = cluster.servers[0].tls_port
        await walk(f"rediss+cluster://127.0.0.1:{port}?ssl_ca_certs={certificates.authority}")


async def test_a_certificate_of_strangers_is_refused(tls: str) -> None:
    """Nothing is sent to a server that somebody else may be; the line says what to add."""
    line = await refused(f"rediss://{tls}/0")
    assert "not trusted" in line
    assert "ssl_ca_certs" in line


async def test_a_certificate_for_another_name_is_refused(
    tls: str, certificates: Certificates
) -> None:
    """It is good for 127.0.0.1 and not for localhost."""
    named = tls.replace("127.0.0.1", "localhost")
    line = await refused(f"rediss://{named}/0?ssl_ca_certs={certificates.authority}")
    assert "localhost" in line


async def test_a_missing_file_is_told_by_its_name(tls: str, tmp_path: Path) -> None:
    """Not as an outage of the server."""
    line = await refused(f"rediss://{tls}/0?ssl_ca_certs={tmp_path}/none.crt")
    assert "none.crt" in line


async def test_plain_words_to_a_tls_port_are_an_outage(tls: str) -> None:
    """The server hangs up, and says no more."""
    with patch.object(calls, "CALL_TIMEOUT", 0.3), pytest.raises(StateUnavailable):
        await walk(f"redis://{tls}/0")
