"""How far counted and estimated tokens are from whole counts, and what counting costs.

`python bench/token_counts.py`: over this repository's own texts and made ones, by OpenAI's newest vocabulary.
"""

from __future__ import annotations

import asyncio
import base64
import json
import random
import time
from pathlib import Path

from backend_api.agent.sizes import estimated_tokens
from backend_api.models.tokens.token_process import TokenProcess
from backend_api.models.tokens.token_program import vocabulary
from backend_api.models.tokens.tokenizers import NEWEST, Tokenizers
from setting import machine

ROOT = Path(__file__).parents[1]
CHARACTERS = 200_000


def texts() -> dict[str, str]:
    """By what they are."""
    chance = random.Random(1)
    known = json.loads((ROOT / "tests/data/token_counts.json").read_text(encoding="utf-8"))
    made = {name: (one["text"] + "\n") * 200 for name, one in known.items() if not one["text"].isascii()}
    folders = {"English": "docs/**/*.md", "Python": "backend-api/src/**/*.py", "Vue": "frontend/src/**/*.vue"}
    found = {
        name: "".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob(pattern)))
        for name, pattern in folders.items()
    }
    return {
        **found,
        "JSON": (ROOT / "contracts/openapi.json").read_text(encoding="utf-8"),
        "base64": base64.b64encode(chance.randbytes(CHARACTERS)).decode(),
        **made,
    }


async def main() -> None:
    """Prints a line for each kind of text."""
    print(machine())
    encode, process, began = vocabulary(NEWEST), TokenProcess(), time.perf_counter()
    count = Tokenizers(process.count).counter("gpt-5.5")
    await count(["word"])
    print(f"begun in {time.perf_counter() - began:.2f} s")
    for name, text in texts().items():
        text = text[:CHARACTERS]
        whole = len(encode(text))
        began = time.perf_counter()
        counted = await count([text])
        took_ms = (time.perf_counter() - began) * 1000
        print(
            f"{name:18} {len(text):7} characters {whole:7} tokens   counted {counted / whole - 1:+6.1%} in "
            f"{took_ms:4.1f} ms   estimated {estimated_tokens(text) / whole - 1:+6.1%}"
        )
    await process.aclose()


if __name__ == "__main__":
    asyncio.run(main())
