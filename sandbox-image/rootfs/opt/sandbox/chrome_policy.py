#!/usr/bin/env python3
"""Write Chrome's managed policy at build time: quiet, no questions, and the extra certificate authorities trusted."""

import json
import ssl
from pathlib import Path
from typing import Any

POLICY_FOLDERS = (Path("/etc/chromium/policies/managed"), Path("/etc/opt/chrome/policies/managed"))
EXTRA_AUTHORITIES = Path("/usr/local/share/ca-certificates/extra")
PEM_HEADER, PEM_FOOTER = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


def authorities() -> list[str]:
    """Each certificate as base64 of its DER form, without line breaks, as the policy wants it."""
    found: list[str] = []
    for path in sorted(EXTRA_AUTHORITIES.glob("*.crt")):
        for part in path.read_text(encoding="ascii", errors="replace").split(PEM_HEADER)[1:]:
            body = part.split(PEM_FOOTER)[0]
            ssl.PEM_cert_to_DER_cert(f"{PEM_HEADER}{body}{PEM_FOOTER}")
            found.append("".join(body.split()))
    return found


def policy() -> dict[str, Any]:
    return {
        "AutofillAddressEnabled": False,
        "AutofillCreditCardEnabled": False,
        "BrowserSignin": 0,
        "CACertificates": authorities(),
        "DefaultBrowserSettingEnabled": False,
        "DefaultGeolocationSetting": 2,
        "DefaultNotificationsSetting": 2,
        "DownloadDirectory": "/workspace/downloads",
        "MetricsReportingEnabled": False,
        "PasswordManagerEnabled": False,
        "PromotionsEnabled": False,
        "PromptForDownloadLocation": False,
        "SyncDisabled": True,
        "TranslateEnabled": False,
    }


if __name__ == "__main__":
    text = json.dumps(policy(), indent=2) + "\n"
    for folder in POLICY_FOLDERS:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "sandbox.json").write_text(text, encoding="utf-8")
