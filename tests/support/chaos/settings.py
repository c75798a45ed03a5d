"""Settings of the services in a trial, and what its log may not hold."""

from __future__ import annotations

import os
import random
import secrets

from support.fleet import Fleet
from support.run_report import tell

SEED = int(os.environ.get("CHAOS_SEED") or secrets.randbelow(1_000_000))

ENDED = {0, -15}
_SIGNS = ("request failed", "run crashed", "Task exception was never retrieved", "sweep crashed")


def trial_settings(model_url: str) -> dict[str, str]:
    return {
        "LLM_PROVIDER": "openai",
        "OPENAI_API_KEY": "sk-scripted",
        "OPENAI_BASE_URL": model_url,
        "MODEL": "scripted",
        "MAX_TOKEN_BUDGET": "100000000",
        "RATE_LIMITS": "messages=0,sessions=0",
        "QUOTAS": "runs=0",
        "SANDBOX_DESKTOP": "false",
        "SANDBOX_MAX_TOTAL": "100",
        "SANDBOX_MAX_PER_USER": "50",
        "SANDBOX_MAX_PER_USER_TOTAL": "50",
        "SANDBOX_POOL_SIZE": "0",
    }


def crashes(fleet: Fleet) -> list[str]:
    """What our code did not expect, by its logs."""
    lines = {
        f"{member.name}: {line[:2000]}"
        for member in fleet.services
        for line in member.log.read_text(errors="replace").splitlines()
        if any(sign in line for sign in _SIGNS)
    }
    return sorted(lines)[:5]


def seeded(trial: str) -> random.Random:
    """What all chance of a trial comes from; the seed is told, so that it can be given again."""
    say(f"{trial}: seed {SEED} (CHAOS_SEED)")
    return random.Random(SEED)


def say(text: str) -> None:
    """Seen at once, and with what failed."""
    tell(f"chaos: {text}")
