"""When the rules of process sandboxes' networks are renewed: in turn, within a budget, by one thread at a time."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from sandbox_manager.infrastructure.runtimes.process import network
from sandbox_manager.infrastructure.runtimes.process.network import NetworkRules
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef

TRIE = "|-- 198.51.100.7\n   /32 host LOCAL\n"
TAKES_S = 5.0
BUDGET_S = 20.0
MOST_A_SWEEP = 5
"""Bad ones in its time, with the one that is under way when it is over."""


class Clock:
    """Goes on only when somebody takes his time: a busy machine takes nobody's."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


class Namespaces:
    """Of the sandboxes; the bad ones take their time and refuse."""

    def __init__(self, clock: Clock, *bad: ProcessRef) -> None:
        self.clock = clock
        self.bad = set(bad)
        self.asked: list[ProcessRef] = []
        self.let = threading.Event()
        self.let.set()
        self.began = threading.Event()

    def set_rules(self, inside: ProcessRef, wanted: str, namespace: int | None) -> str | None:
        del wanted, namespace
        self.asked.append(inside)
        self.began.set()
        assert self.let.wait(60)
        if inside in self.bad:
            self.clock.now += TAKES_S
            return "it does not answer"
        return None


def sandboxes(count: int) -> list[ProcessRef]:
    return [ProcessRef(1 << 30 | number, 1) for number in range(count)]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(network, "time", clock)
    monkeypatch.setattr(network, "_RENEW_S", BUDGET_S)
    return clock


@pytest.fixture
def rules(tmp_path: Path) -> NetworkRules:
    trie = tmp_path / "trie"
    trie.write_text(TRIE)
    return NetworkRules((), trie)


def bad_asked(namespaces: Namespaces) -> list[ProcessRef]:
    return [one for one in namespaces.asked if one in namespaces.bad]


def test_those_that_hold_it_up_take_no_more_than_its_time_and_come_last(
    rules: NetworkRules, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = sandboxes(40)
    bad, good = running[:30], running[30:]
    namespaces = Namespaces(clock, *bad)
    monkeypatch.setattr(network, "_set_rules", namespaces.set_rules)
    for _ in range(len(bad) // MOST_A_SWEEP + 1):
        before = len(bad_asked(namespaces))
        rules.renew(dict.fromkeys(running))
        assert len(bad_asked(namespaces)) - before <= MOST_A_SWEEP

    assert set(good) <= set(namespaces.asked)
    assert all(namespaces.asked.count(one) == 1 for one in good), "what is in place is left alone"


def test_two_sweeps_at_once_set_them_once(rules: NetworkRules, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    running, namespaces = sandboxes(3), Namespaces(clock)
    namespaces.let.clear()
    monkeypatch.setattr(network, "_set_rules", namespaces.set_rules)
    first = threading.Thread(target=rules.renew, args=(dict.fromkeys(running),))
    first.start()
    assert namespaces.began.wait(60)

    rules.renew(dict.fromkeys(running))
    namespaces.let.set()
    first.join(60)

    assert namespaces.asked == running


def test_another_process_by_the_same_number_gets_rules_of_its_own(
    rules: NetworkRules, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespaces = Namespaces(clock)
    monkeypatch.setattr(network, "_set_rules", namespaces.set_rules)
    first, second = ProcessRef(1 << 30, 1), ProcessRef(1 << 30, 2)
    for one in (first, first, second, second):
        rules.renew({one: None})

    assert namespaces.asked == [first, second]
