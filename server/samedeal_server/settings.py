"""What `serve` was told, checked before anything starts. Goes to workers as JSON."""

import ssl
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from samedeal_server.buckets import Limits, Rate
from samedeal_server.errors import CannotServe

__all__ = ["Settings", "parse_rate"]


@dataclass(frozen=True, slots=True)
class Settings:
    """One server, or each of the workers of one."""

    host: str
    port: int
    redis: str | None
    """Address of the store; None for a private one in `data`."""
    data: Path
    origins: tuple[str, ...] = ()
    """Web pages whose scripts may connect; programs, which name none, always may."""
    trusted_proxies: str = ""
    tls_cert: Path | None = None
    tls_key: Path | None = None
    limits: Limits = field(default_factory=Limits)
    max_connections: int = 20_000
    max_watchers: int = 10_000
    """Of those, how many may watch; one that watches several races counts for each."""
    min_replicas: int = 0
    """How many replicas of the store must have a move before it is acknowledged."""

    def as_json(self) -> dict[str, Any]:
        """The fields as JSON has them; see `from_json`."""
        return asdict(self) | {
            name: None if (path := getattr(self, name)) is None else str(path)
            for name in ("data", "tls_cert", "tls_key")
        }

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> "Settings":
        """The settings that `as_json` wrote."""
        rates = {name: rate and Rate(**rate) for name, rate in told["limits"].items()}
        paths = {name: told[name] and Path(told[name]) for name in ("data", "tls_cert", "tls_key")}
        return cls(**told | paths | {"limits": Limits(**rates), "origins": tuple(told["origins"])})

    def tls(self) -> ssl.SSLContext | None:
        """The certificate to serve with, or None without. Raise CannotServe if it is no good."""
        if self.tls_cert is None:
            if self.tls_key is not None:
                raise CannotServe("--tls-key needs --tls-cert")
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        for path in filter(None, (self.tls_cert, self.tls_key)):
            if not path.is_file():
                raise CannotServe(f"there is no file {path}")
        try:
            context.load_cert_chain(self.tls_cert, self.tls_key, password=_no_password)
        except (ssl.SSLError, ValueError, OSError) as error:
            raise CannotServe(
                f"{self.tls_cert} is not a certificate with its key in PEM form: {error}"
            ) from None
        return context


def _no_password() -> str:
    raise ValueError("a key with a password cannot be used")


def parse_rate(text: str) -> Rate | None:
    """Read `BURST:PER_SECOND`, or `off` for None. Raise ValueError that shows what was read."""
    if text == "off":
        return None
    burst, _, per_s = text.partition(":")
    try:
        rate = Rate(float(burst), float(per_s))
    except ValueError:
        rate = Rate(0, 0)
    if not (1 <= rate.burst <= 1e6 and 0 < rate.per_s <= 1e6):
        raise ValueError(f"{text!r} is no rate: write off, or BURST:PER_SECOND like 400:200")
    return rate
