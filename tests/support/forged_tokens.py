"""Tokens that must not pass, each made from one that would."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from typing import Any

from jose import jwt


def _part(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def forged(token: str, sign: Callable[[dict[str, Any]], str], *, raised: dict[str, Any]) -> dict[str, str]:
    """Forgeries by name. `sign` signs claims with the right key; `raised` are claims a thief would like to have."""
    head, body, signature = token.split(".")
    claims = jwt.get_unverified_claims(token)
    now = int(time.time())
    without = {name: {key: value for key, value in claims.items() if key != name} for name in ("exp", "aud", "sub")}
    return {
        "garbage": "garbage",
        "endless": "x" * 7000,
        "two parts": f"{head}.{body}",
        "not base64": f"{head}.{body}.***",
        "not text": f"{head}.{base64.urlsafe_b64encode(bytes(range(128, 160))).decode()}.{signature}",
        "expired": sign(claims | {"exp": now - 1}),
        "without an end": sign(without["exp"]),
        "an end that is no number": sign(claims | {"exp": "never"}),
        "not yet valid": sign(claims | {"nbf": now + 600}),
        "another audience": sign(claims | {"aud": "another"}),
        "no audience": sign(without["aud"]),
        "no subject": sign(without["sub"]),
        "tampered claims": f"{head}.{_part(claims | raised)}.{signature}",
        "tampered signature": f"{head}.{body}.{signature[:-6]}{'AAAAAA' if signature[-6:] != 'AAAAAA' else 'BBBBBB'}",
        "unsigned": f"{_part({'alg': 'none', 'typ': 'JWT'})}.{body}.",
        "unsigned in capitals": f"{_part({'alg': 'NONE', 'typ': 'JWT'})}.{body}.{signature}",
        "a key of its own": f"{_part({'alg': 'HS256', 'jwk': {'kty': 'oct', 'k': 'AAAA'}})}.{body}.{signature}",
        "another secret": jwt.encode(claims | raised, "another secret of enough length", algorithm="HS256"),
    }
