"""A name where it is one: not in a comment, in a text, or as a part of another."""

from __future__ import annotations

import pytest

from tool_api.navigation.parsing import parse
from tool_api.navigation.references import references_in
from tool_api.navigation.symbols import symbols_of

SAMPLES = {
    "python": (
        'from a import load\n# load\ndef run():\n    "load"\n    x.load(reload, f"{load()}")\nclass load: ...\n',
        ["1 import", "5 use run", "5 use run", "6 definition"],
    ),
    "javascript": (
        "import { load } from 'load'\n// load\nclass A { load() { return `load ${this.load} load` } }\nf({ load })\n",
        ["1 import", "3 definition A", "3 use A.load", "4 use"],
    ),
    "tsx": ("const a = (x: load) => <load.b load='load'>load</load.b>\n", ["1 use a", "1 use a", "1 use a", "1 use a"]),
    "go": ('package p\nfunc run() { x := "load"; load(p.load) /* load */ }\n', ["2 use run", "2 use run"]),
    "rust": (
        'use a::load;\nfn run() { load!("load", load); self.load }\n',
        ["1 import", "2 use run", "2 use run", "2 use run"],
    ),
    "java": (
        'import a.load;\nclass A { void load() { this.load("load"); } }\n',
        ["1 import", "2 definition A", "2 use A.load"],
    ),
    "c": (
        '#include "load"\nint load(int x) { return x->load + load(1); }\n',
        ["2 definition", "2 use load", "2 use load"],
    ),
    "cpp": ("void A::load() { b::load<int>(); load x; }\n", ["1 definition A", "1 use A.load", "1 use A.load"]),
    "csharp": ('using load;\nclass A { load F() => new load("load"); }\n', ["1 import", "2 use A.F", "2 use A.F"]),
    "ruby": ("# load\ndef load\n  x.load 'load', :load\nend\n", ["2 definition", "3 use load"]),
    "php": (
        "<?php use A\\load;\nfunction f($load) { load('load', $x->load); }\n",
        ["1 import", "2 use f", "2 use f", "2 use f"],
    ),
    "bash": ('load() { :; }\nload a "load" # load\necho load\n', ["1 definition", "2 use"]),
}


@pytest.mark.parametrize("language", SAMPLES)
def test_a_name_is_found_where_it_is_one(language: str) -> None:
    text, expected = SAMPLES[language]
    source = text.encode()
    tree = parse(source, language)
    places = references_in("a", source, tree, "load", symbols_of(source, tree, language))
    assert [f"{place.line} {place.kind} {place.container}".rstrip() for place in places] == expected
