"""Addresses to which a user's own key may be sent, as our server connects to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backend_api.kit.http_address import HttpAddressError, check_http_address
from backend_api.settings.domain.values import name, refused

KNOWN_HOSTS = (
    "api.openai.com",
    "openrouter.ai",
    "api.deepseek.com",
    "api.mistral.ai",
    "api.groq.com",
    "api.together.xyz",
    "api.fireworks.ai",
    "api.cerebras.ai",
    "api.x.ai",
    "api.perplexity.ai",
    "api.moonshot.ai",
    "api.moonshot.cn",
    "api.z.ai",
    "open.bigmodel.cn",
    "api.minimax.io",
    "api.minimaxi.com",
    "api.siliconflow.cn",
    "dashscope.aliyuncs.com",
    "dashscope-intl.aliyuncs.com",
    "generativelanguage.googleapis.com",
)
"""The official hosts of well known providers that speak OpenAI's protocol."""
_WANTED = "This setting must be an address such as https://openrouter.ai/api/v1."


@dataclass(frozen=True, slots=True)
class BaseUrls:
    """`hosts` are those that users may name, by https and on the default port; with `is_any` every address is allowed,
    by http too."""

    hosts: tuple[str, ...] = KNOWN_HOSTS
    is_any: bool = False

    def check(self, value: Any) -> str:
        """The address without a slash at its end. Raises `InvalidError`."""
        url = name(value).rstrip("/")
        try:
            parts = check_http_address(url)
        except HttpAddressError as error:
            if error.fault == "credentials":
                raise refused("An address can't contain a user name or password.", "base_url_credentials") from None
            raise refused(_WANTED, "base_url_form") from None
        if "?" in url:
            raise refused(_WANTED, "base_url_form")
        if self.is_any:
            return url
        if parts.scheme != "https" or parts.port not in (None, 443):
            raise refused("The address must begin with https:// and name no port.", "base_url_https")
        if parts.hostname not in self.hosts:
            hosts = ", ".join(self.hosts)
            reason = f"{parts.hostname} is not one of the hosts allowed on this server: {hosts}."
            raise refused(reason, "base_url_host")
        return url
