"""Addresses that users give: fetched only where they are public.

A user who names an address makes the server connect to it. So every name is resolved once, all its addresses must be
public, and the connection goes to exactly what was checked: a name that resolves to another machine a moment later does
not help. Redirects pass the same check; files and ftp are not opened at all, and no proxy is used.
"""

import http.client
import ipaddress
import socket
import urllib.request
from typing import Any

_REDIRECTS = 3
_NAT64, _GLOBAL_UNICAST = ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("2000::/3")
_SPECIAL = tuple(  # of IANA's registries what some versions of `ipaddress` hold for global
    map(ipaddress.ip_network, ("192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
        "192.175.48.0/24", "2001::/23", "2002::/16", "2620:4f:8000::/48", "3fff::/20"))
)  # fmt: skip


def public_addresses(host: str, port: int, *, private: bool = False) -> list[str]:
    """Return the addresses of a name; ValueError where any is of this machine or network and these are not allowed.

    >>> public_addresses("127.0.0.1", 80)
    Traceback (most recent call last):
    ValueError: 127.0.0.1 is an address of this machine or network, which is not followed
    """
    found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    for address in found:
        if not private and not is_public(address):
            raise ValueError(f"{host} is an address of this machine or network, which is not followed")
    return list(dict.fromkeys(found))


def is_public(address: str) -> bool:
    """Return whether an address is public, also where IPv6 embeds an IPv4 address.

    >>> is_public("93.184.216.34"), is_public("10.0.0.1"), is_public("::ffff:127.0.0.1"), is_public("fe80::1")
    (True, False, False, False)
    """
    found = ipaddress.ip_address(address.split("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inner is None and found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        if found not in _GLOBAL_UNICAST:
            return False
    return found.is_global and not found.is_multicast and not any(found in block for block in _SPECIAL)


def checked_opener(*, private: bool = False, follow: bool = True) -> urllib.request.OpenerDirector:
    """Return an opener of http and https alone that connects only to public addresses, or with `private` to any.

    Without `follow` it goes to no other address than the one that was asked for.
    """
    opener = urllib.request.OpenerDirector()
    for handler in (
        _Http(private),
        _Https(private),
        *([_FewRedirects()] if follow else []),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _connected(host: str, port: int, timeout: float | None, private: bool) -> socket.socket:
    last: OSError | None = None
    for address in public_addresses(host, port, private=private):
        try:
            return socket.create_connection((address, port), timeout)
        except OSError as error:
            last = error
    raise last or OSError(f"{host} has no address")


class _Checked(http.client.HTTPConnection):
    private = False

    def connect(self) -> None:
        self.sock = _connected(self.host, self.port, self.timeout, self.private)


class _CheckedSafe(http.client.HTTPSConnection):
    private = False

    def connect(self) -> None:
        plain = _connected(self.host, self.port, self.timeout, self.private)
        context: Any = vars(self)["_context"]
        self.sock = context.wrap_socket(plain, server_hostname=self.host)


class _Http(urllib.request.HTTPHandler):
    def __init__(self, private: bool) -> None:
        super().__init__()
        self.kind: Any = type("Checked", (_Checked,), {"private": private})

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self.kind, req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, private: bool) -> None:
        super().__init__()
        self.kind: Any = type("CheckedSafe", (_CheckedSafe,), {"private": private})

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self.kind, req)


class _FewRedirects(urllib.request.HTTPRedirectHandler):
    """Follows a few redirects; the same handlers open them, and there are no others."""

    max_redirections = _REDIRECTS
