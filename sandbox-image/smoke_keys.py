#!/usr/bin/env python3
"""Print a fresh public key (base64 of its PEM) and a door token for the sandbox `smoke`, as the manager would."""

import base64
import sys
import time

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from jose import jwt

from contracts.sandboxes import DOOR_ALGORITHM, DOOR_AUDIENCE, Scope

key = ec.generate_private_key(ec.SECP256R1())
private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
now = int(time.time())
claims = {"sub": "smoke", "gen": 1, "aud": DOOR_AUDIENCE, "iat": now, "exp": now + 600, "jti": "smoke"}
token = jwt.encode({**claims, "scopes": [scope.value for scope in Scope]}, private, algorithm=DOOR_ALGORITHM)
sys.stdout.write(f"{base64.b64encode(public).decode()} {token}\n")
