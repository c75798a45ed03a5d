"""The TLS context of clients that never speak TLS.

A client of httpx loads the certificates of the system as it is made, which takes some 40 ms of a processor; tests make
thousands of clients, and all of what they speak to is plain HTTP on this machine.
"""

import ssl

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trusts nobody: a test that spoke TLS by mistake would fail."""
