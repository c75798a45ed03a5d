#!/usr/bin/env python3
"""Print a fresh public key (base64 of its PEM) and an endpoint token for the sandbox `smoke`, as the manager would."""

import base64
import sys
import time

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from jose import jwt

from contracts.sandboxes import TOKEN_ALGORITHM, TOKEN_AUDIENCE, Scope

key = ec.generate_private_key(ec.SECP256R1())
private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
now = int(time.time())
claims = {"sub": "smoke", "gen": 1, "aud": TOKEN_AUDIENCE, "iat": now, "exp": now + 600, "jti": "smoke"}
token = jwt.encode({**claims, "scopes": [scope.value for scope in Scope]}, private, algorithm=TOKEN_ALGORITHM)
sys.stdout.write(f"{base64.b64encode(public).decode()} {token}\n")
