"""When the rules of process sandboxes' networks are renewed: in turn, within a budget, by one thread at a time."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from sandbox_manager.infrastructure.runtimes.process import network
from sandbox_manager.infrastructure.runtimes.process.network import NetworkRules
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef

TRIE = "|-- 198.51.100.7\n   /32 host LOCAL\n"
TAKES_S = 0.05


class Namespaces:
    """Of the sandboxes; the bad ones take their time and refuse."""

    def __init__(self, *bad: ProcessRef) -> None:
        self.bad = set(bad)
        self.asked: list[ProcessRef] = []
        self.let = threading.Event()
        self.let.set()

    def set_rules(self, inside: ProcessRef, wanted: str) -> str | None:
        self.asked.append(inside)
        assert self.let.wait(10)
        if inside in self.bad:
            time.sleep(TAKES_S)
            return "it does not answer"
        return None


def sandboxes(count: int) -> list[ProcessRef]:
    return [ProcessRef(1 << 30 | number, 1) for number in range(count)]


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NetworkRules:
    trie = tmp_path / "trie"
    trie.write_text(TRIE)
    monkeypatch.setattr(network, "_RENEW_S", TAKES_S * 4)
    return NetworkRules((), trie)


def test_those_that_hold_it_up_take_no_more_than_its_time_and_come_last(
    rules: NetworkRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = sandboxes(40)
    bad, good = running[:30], running[30:]
    namespaces = Namespaces(*bad)
    monkeypatch.setattr(network, "_set_rules", namespaces.set_rules)
    for _ in range(20):
        began = time.monotonic()
        rules.renew(running)
        assert time.monotonic() - began < TAKES_S * 8
        if set(good) <= set(namespaces.asked):
            break

    assert set(good) <= set(namespaces.asked)
    assert all(namespaces.asked.count(one) == 1 for one in good), "what is in place is left alone"


def test_two_sweeps_at_once_set_them_once(rules: NetworkRules, monkeypatch: pytest.MonkeyPatch) -> None:
    running, namespaces = sandboxes(3), Namespaces()
    namespaces.let.clear()
    monkeypatch.setattr(network, "_set_rules", namespaces.set_rules)
    first = threading.Thread(target=rules.renew, args=(running,))
    first.start()
    until = time.monotonic() + 10
    while not namespaces.asked:
        assert time.monotonic() < until
        time.sleep(0.01)

    rules.renew(running)
    namespaces.let.set()
    first.join(10)

    assert namespaces.asked == running


def test_another_process_by_the_same_number_gets_rules_of_its_own(
    rules: NetworkRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespaces = Namespaces()
    monkeypatch.setattr(network, "_set_rules", namespaces.set_rules)
    first, second = ProcessRef(1 << 30, 1), ProcessRef(1 << 30, 2)
    for one in (first, first, second, second):
        rules.renew([one])

    assert namespaces.asked == [first, second]
