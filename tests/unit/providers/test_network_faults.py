"""Failures of the network, told by their causes."""

import errno
import json
import socket
import ssl

import httpx2
import pytest

from app.domain.errors import ErrorKind
from app.providers.network_faults import fault_of_exception

URL = "https://api.example.com/v1/messages"


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


def certificate_error(code: int) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_code = code
    error.verify_message = "words of OpenSSL"
    return error


@pytest.mark.parametrize(
    ("error", "url", "sentence"),
    [
        (
            caused(httpx2.ConnectError("x"), socket.gaierror(-2, "Name or service not known")),
            "https://api.nowhere.example",
            "The name api.nowhere.example could not be found. Is there a network, and is the name right?",
        ),
        (
            caused(httpx2.ConnectError("x"), ExceptionGroup("x", [ConnectionRefusedError(errno.ECONNREFUSED, "no")])),
            "http://127.0.0.1:11434",
            "Nothing answers at 127.0.0.1:11434: is the server running?",
        ),
        (
            caused(httpx2.ConnectError("x"), OSError(errno.ENETUNREACH, "unreachable")),
            "https://api.example.com",
            "api.example.com:443 can't be reached from this network.",
        ),
        (
            caused(httpx2.ConnectError("x"), certificate_error(18)),
            "https://api.example.com",
            "The certificate of api.example.com is not trusted: it is signed by itself.",
        ),
        (
            caused(httpx2.ConnectError("x"), certificate_error(7)),
            "https://api.example.com",
            "The certificate of api.example.com is not trusted: words of OpenSSL.",
        ),
        (
            httpx2.ConnectTimeout("x"),
            "https://api.example.com",
            "api.example.com:443 does not answer: no connection came about in time.",
        ),
        (httpx2.ReadTimeout("x"), "https://api.example.com", "No byte for 300 s."),
        (httpx2.RemoteProtocolError("x"), "https://api.example.com", "The connection to api.example.com broke off."),
        (httpx2.ReadError("x"), "https://api.example.com", "The connection to api.example.com broke off."),
        (
            caused(RuntimeError("of a library"), httpx2.ReadError("x")),
            "http://[::1]:1",
            "The connection to [::1]:1 broke off.",
        ),
    ],
)
def test_failures_of_the_network_in_words(error: Exception, url: str, sentence: str) -> None:
    failure = fault_of_exception(error, url=url, keys=(), read_seconds=300)

    assert (failure.kind, failure.detail) == (ErrorKind.NETWORK, sentence)


def test_the_proxy_is_named_when_it_is_the_proxy() -> None:
    refused = caused(httpx2.ConnectError("x"), ConnectionRefusedError(errno.ECONNREFUSED, "no"))

    def words(error: Exception) -> str:
        return fault_of_exception(error, url=URL, keys=(), read_seconds=300, proxy="proxy.lan:3128").detail

    assert words(refused) == "Nothing answers at the proxy proxy.lan:3128."
    assert words(httpx2.ProxyError("407 Proxy Authentication Required")) == (
        "The proxy proxy.lan:3128 did not let the request through. It wants a name and a password."
    )


def test_what_is_no_answer_is_the_servers_fault() -> None:
    failure = fault_of_exception(json.JSONDecodeError("x", "y", 0), url=URL, keys=(), read_seconds=None)

    assert failure.kind is ErrorKind.SERVER
    assert failure.detail == "api.example.com sent something that can't be read as an answer."


def test_a_key_that_can_not_be_sent_is_not_tried_again() -> None:
    error = UnicodeEncodeError("ascii", "ü", 0, 1, "no")

    assert fault_of_exception(error, url=URL, keys=(), read_seconds=None).kind is ErrorKind.INVALID_REQUEST


@pytest.mark.parametrize(
    "error", [ssl.SSLZeroReturnError(6, "closed"), ssl.SSLEOFError(8, "EOF"), ssl.SSLError(1, "?")]
)
def test_a_server_that_hangs_up_at_the_sight_of_tls_may_speak_plain_http(error: ssl.SSLError) -> None:
    detail = fault_of_exception(error, url="https://127.0.0.1:1/v1", keys=(), read_seconds=300).detail
    assert ("http://" in detail) == (type(error) is not ssl.SSLError)
