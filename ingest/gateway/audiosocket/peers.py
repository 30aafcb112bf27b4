"""Peers that may connect without a secret: addresses and networks of the setting."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv6Address, ip_address, ip_network

from tenor.errors import BadInput


class Peers:
    def __init__(self, networks: Iterable[str]) -> None:
        try:
            self._networks = [ip_network(network, strict=False) for network in networks]
        except ValueError as error:
            raise BadInput(f"gateway.audiosocket_peers: {error}", 'write networks like "10.0.0.0/8"') from None

    def allow(self, host: str) -> bool:
        try:
            address = ip_address(host.partition("%")[0])
        except ValueError:
            return False
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        return any(address in network for network in self._networks)
