"""What stands before a conversation, told from any other by its digests."""

from __future__ import annotations

from hashlib import sha256

from backend_api.agent.opening import ContextPrefix


def test_each_prompt_of_many_has_its_own_digest_however_often_it_is_asked_for() -> None:
    prompts = [f"You are agent {number}." for number in range(50)]
    for prompt in (*prompts, *prompts):
        opening = ContextPrefix(model="m", system=prompt, tools=())
        assert opening.system_reference.digest == sha256(prompt.encode()).hexdigest()
        assert opening.system_reference.size == len(prompt)
