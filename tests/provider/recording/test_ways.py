"""Upstreams behind TLS and behind proxies."""

from __future__ import annotations

import datetime as dt
import json
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import closing
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.provider.upstream.proxies import Proxy, proxy_for
from tests.provider.recording.conftest import BODY, PATIENCE, Caller, Studio, Upstream, once, parsed

Record = Callable[..., Studio]
Start = Callable[..., Upstream]

CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
HELLO = CHUNKED + b"3\r\nhel\r\n2\r\nlo\r\n"
LAST = b"0\r\n\r\n"
HOST = "models.example"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a certificate that vouches for itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    now = dt.datetime.now(dt.UTC)
    named = x509.SubjectAlternativeName([x509.DNSName(HOST), x509.IPAddress(ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(named, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(serialization.Encoding.PEM, *form)
    )
    return path


@pytest.fixture
def secure(upstream: Start, certificate: Path) -> Start:
    """Start upstreams that speak TLS."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    return lambda scene: upstream(scene, lambda plain: context.wrap_socket(plain, server_side=True))


@pytest.fixture
def trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust the certificate, as a user would say it."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))


def tunnel(to: int, heard: list[bytes]) -> Callable[[Caller], None]:
    """Return the scene of a proxy that digs one tunnel to a port of this machine."""

    def pump(source: socket.socket, sink: socket.socket) -> None:
        while piece := source.recv(65536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)

    def scene(caller: Caller) -> None:
        heard.append(caller.request())
        caller.say(b"HTTP/1.1 200 Connection established\r\nvia: x\r\n\r\n")
        with socket.create_connection(("127.0.0.1", to), PATIENCE) as beyond:
            out = threading.Thread(target=pump, args=(caller.socket, beyond))
            out.start()
            pump(beyond, caller.socket)
            out.join(PATIENCE)

    return scene


def local(server: Upstream) -> str:
    """Return the address of an upstream that speaks TLS."""
    return f"https://127.0.0.1:{server.port}"


def message(data: bytes) -> str:
    """Return the message of a refusal."""
    answer = parsed(data, closed=True)
    assert (answer.status, answer.whole) == (502, True)
    return str(json.loads(answer.body)["error"]["message"])


@pytest.mark.usefixtures("trusted")
def test_tls_is_spoken_with_the_upstream(studio: Record, secure: Start) -> None:
    """The client speaks plain HTTP with us; SSL_CERT_FILE says whom we trust; the connection is used again."""

    def scene(caller: Caller) -> None:
        while caller.request():
            caller.say(HELLO + LAST)

    server = secure(scene)
    stage = studio(local(server))
    for _ in range(3):
        answer = parsed(stage.ask("connection: close").read(), closed=True)
        assert (answer.body, answer.chunks, answer.whole) == (b"hello", 2, True)
        recorded = stage.recorded()
        assert (recorded.url, recorded.ending) == (f"{local(server)}/v1/messages", "whole")
        assert [piece.data for piece in recorded.pieces] == [b"hel", b"lo"]
    assert server.connections == 1


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(("ending", "end"), [("reset", "rst"), ("closed", "fin")])
def test_a_cut_in_tls_is_a_cut(studio: Record, secure: Start, ending: str, end: str) -> None:
    """By RST, or by FIN without a farewell."""
    heard = threading.Event()

    def scene(caller: Caller) -> None:
        caller.request()
        caller.say(HELLO)
        assert heard.wait(PATIENCE)
        if ending == "reset":
            caller.reset()

    stage = studio(local(secure(scene)))
    client = stage.ask()
    client.read(until=b"lo\r\n")
    heard.set()
    client.read()
    recorded = stage.recorded()
    assert (client.end, recorded.ending, recorded.body) == (end, ending, b"hello")


def test_a_certificate_that_nobody_vouches_for_is_not_trusted(studio: Record, secure: Start) -> None:
    """502 in words, and the request with its key was never sent."""
    server = secure(once(HELLO + LAST))
    stage = studio(local(server))
    assert "certificate verify failed" in message(stage.ask("connection: close").read())
    assert stage.kept.empty()
    for player in server._players:
        player.join(PATIENCE)
    assert isinstance(server.failures.pop(), ssl.SSLError)
    assert server.failures == []


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
def test_tls_goes_through_a_tunnel(studio: Record, secure: Start, upstream: Start, variable: str) -> None:
    """The proxy hears the host and its own credentials, and nothing of the request."""
    heard: list[bytes] = []
    asked: list[bytes] = []

    def scene(caller: Caller) -> None:
        asked.append(caller.request())
        caller.say(HELLO + LAST)

    proxy = upstream(tunnel(secure(scene).port, heard))
    stage = studio(f"https://{HOST}", {variable: f"http://me:p%40ss@127.0.0.1:{proxy.port}"})
    answer = parsed(stage.ask("connection: close").read(), closed=True)
    assert (answer.body, answer.whole) == (b"hello", True)
    assert heard == [
        (
            b"CONNECT models.example:443 HTTP/1.1\r\nhost: models.example:443\r\n"
            b"proxy-authorization: Basic bWU6cEBzcw==\r\n\r\n"
        )
    ]
    assert asked[0].startswith(b"POST /v1/messages HTTP/1.1\r\n")
    assert b"\r\nhost: models.example\r\n" in asked[0]
    assert b"proxy-authorization" not in asked[0]
    assert stage.recorded().url == f"https://{HOST}/v1/messages"


@pytest.mark.parametrize("credentials", ["", "me@"])
def test_plain_http_is_asked_of_the_proxy(studio: Record, upstream: Start, credentials: str) -> None:
    """In absolute form."""
    heard: list[bytes] = []

    def scene(caller: Caller) -> None:
        while asked := caller.request():
            heard.append(asked)
            caller.say(HELLO + LAST)

    proxy = upstream(scene)
    environ = {"http_proxy": f"{credentials}127.0.0.1:{proxy.port}", "HTTPS_PROXY": "http://127.0.0.1:1"}
    stage = studio(f"http://{HOST}:81/base", environ)
    assert parsed(stage.ask("connection: close", below="/anthropic/v1?q=1").read(), closed=True).body == b"hello"
    head, _, body = heard[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST http://models.example:81/base/v1?q=1 HTTP/1.1\r\n")
    assert b"\r\nhost: models.example:81" in head
    assert (b"\r\nproxy-authorization: Basic bWU6" in head) == bool(credentials)
    assert body == BODY
    assert stage.recorded().url == f"http://{HOST}:81/base/v1?q=1"


@pytest.mark.usefixtures("trusted")
def test_no_proxy_leads_to_this_machine(studio: Record, upstream: Start, secure: Start) -> None:
    """Whatever the environment says."""
    dead = {"HTTP_PROXY": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1"}
    for url in (upstream(once(HELLO + LAST)).url, local(secure(once(HELLO + LAST)))):
        assert parsed(studio(url, dead).ask("connection: close").read(), closed=True).body == b"hello"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b"HTTP/1.1 407 Who are you\r\n\r\n", "the proxy answered 'HTTP/1.1 407 Who are you'"),
        (b"", "it closed the connection"),
        (b"x" * 70_000, "the proxy answered 'xxx"),
    ],
    ids=["no credentials", "nothing", "garbage"],
)
def test_a_proxy_that_digs_no_tunnel(studio: Record, upstream: Start, said: bytes, told: str) -> None:
    """502 in words: whom we asked, through whom, and what he said."""
    proxy = upstream(once(said))
    stage = studio(f"https://{HOST}", {"HTTPS_PROXY": f"http://u:secret@127.0.0.1:{proxy.port}"})
    words = message(stage.ask("connection: close").read())
    assert words.startswith(f"https://{HOST} through the proxy 127.0.0.1:{proxy.port} can't be reached: {told}")
    assert "secret" not in words
    assert stage.kept.empty()


def test_a_proxy_that_is_not_there(studio: Record) -> None:
    """502 in words."""
    with closing(socket.create_server(("127.0.0.1", 0))) as nobody:
        port = nobody.getsockname()[1]
    for scheme in ("http", "https"):
        stage = studio(f"{scheme}://{HOST}", {"ALL_PROXY": f"http://127.0.0.1:{port}"})
        words = message(stage.ask("connection: close").read())
        assert words.startswith(f"{scheme}://{HOST} through the proxy 127.0.0.1:{port} can't be reached: ")


def test_a_tunnel_that_leads_nowhere(studio: Record, upstream: Start) -> None:
    """What stands at its end speaks no TLS."""
    stage = studio(f"https://{HOST}", {"HTTPS_PROXY": upstream(once(b"HTTP/1.1 200 OK\r\n\r\n")).url})
    assert "can't be reached" in message(stage.ask("connection: close").read())


ENVIRON = {"https_proxy": "http://p.example:8080", "HTTP_PROXY": "http://q.example"}


@pytest.mark.parametrize(
    ("no_proxy", "host", "direct"),
    [
        ("", "a.example", False),
        ("*", "a.example", True),
        ("a.example", "a.example", True),
        ("a.example", "b.a.example", True),
        (".a.example", "b.a.example", True),
        ("*.a.example", "b.a.example", True),
        ("a.example", "ba.example", False),
        ("x.example, A.Example ,y", "a.example", True),
        ("a.example:443", "a.example", True),
        ("a.example:444", "a.example", False),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("10.0.0.0/8", "a.example", False),
        ("not/a/network", "10.1.2.3", False),
        ("10.1.2.3", "10.1.2.3", True),
        ("2001:db8::1", "2001:db8::1", True),
        ("[2001:db8::1]:443", "2001:db8::1", True),
        ("", "localhost", True),
        ("", "x.localhost", True),
        ("", "127.8.9.1", True),
        ("", "::1", True),
    ],
)
def test_who_needs_no_proxy(no_proxy: str, host: str, *, direct: bool) -> None:
    """By name, domain, address, network or port; and whoever is this machine."""
    expected = None if direct else Proxy("p.example", 8080)
    for variable in ("NO_PROXY", "no_proxy"):
        assert proxy_for("https", host, 443, {**ENVIRON, variable: no_proxy}) == expected


def test_each_scheme_has_its_proxy() -> None:
    """One in lower case goes before one in upper case, and port 80 is any proxy's that names none."""
    assert proxy_for("http", "a.example", 80, ENVIRON) == Proxy("q.example", 80)
    assert proxy_for("https", "a.example", 443, {**ENVIRON, "HTTPS_PROXY": "http://z.example"}) == Proxy(
        "p.example", 8080
    )
    assert proxy_for("https", "a.example", 443, {"HTTP_PROXY": "http://q.example"}) is None


@pytest.mark.parametrize("url", ["socks5://p.example", "https://p.example", "http://", "http://p.example:x"])
def test_a_proxy_that_speaks_something_else_is_refused_before_anything_is_recorded(studio: Any, url: str) -> None:
    """The message names the upstream, and no credentials of the proxy; who needs no proxy needs none."""
    environ = {"HTTPS_PROXY": url.replace("//p", "//u:secret@p")}
    with pytest.raises(UsageError, match=f"a proxy for https://{HOST} that is no") as refused:
        studio(f"https://{HOST}", environ)
    assert "secret" not in str(refused.value)
    assert proxy_for("https", HOST, 443, {**environ, "NO_PROXY": HOST}) is None
