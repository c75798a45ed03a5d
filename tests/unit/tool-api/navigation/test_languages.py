"""Of each language a small source: what in it is defined, where, and inside of what."""

from __future__ import annotations

import pytest

from tool_api.navigation.grammars import grammar
from tool_api.navigation.languages import NAMES, language_of, language_of_first_line
from tool_api.navigation.parsing import parse
from tool_api.navigation.symbols import symbols_of

PYTHON = """
LIMIT = 3
LIMIT = 4
type Pair = tuple[int, int]

@decorated
class Server(Base):
    port: int = 80

    async def start(self):
        inner = lambda: 1
        def helper():
            pass

def main(): ...
"""
JAVASCRIPT = """
import x from 'y'
const LIMIT = 3
const run = async () => { const hidden = 1 }
function* walk() {}
class Server extends Base {
  #port = 80
  start() { return () => {} }
}
exports.stop = function () {}
const table = { go: () => 1 }
"""
TYPESCRIPT = """
export interface Shape { area(): number; readonly name: string }
type Id = string
enum Color { Red, Green = 2 }
namespace Inner { export const x = 1 }
abstract class Base { private port = 1; abstract go(): void }
export function main<T>(x: T): T { return x }
"""
TSX = """
export const App = (props: Props) => <div onClick={() => props.go()}>text</div>
function Row({ name }: { name: string }) { return <b>{name}</b> }
"""
GO = """
package main
const Limit = 3
type Server struct {
	port int
}
type Runner interface { Run() error }
type Id = string
func (s *Server) Start() { x := 1; var y int; _ = x + y }
func (l List[T]) Len() int { return 0 }
func main() {}
"""
RUST = """
const LIMIT: u32 = 3;
mod inner { pub fn deep() {} }
struct Server<T> { port: T }
enum Color { Red, Green }
trait Run { fn run(&self); }
impl<T> Run for Server<T> { fn run(&self) { let x = 1; } }
impl Color { fn new() -> Self { Color::Red } }
macro_rules! shout { () => {} }
"""
JAVA = """
package a.b;
public class Server<T> implements Runnable {
  private int port = 80, other;
  Server() {}
  public void run() { int local = 1; }
  enum Color { RED }
  record Point(int x) {}
}
interface Shape { double area(); }
"""
C = """
#define LIMIT 3
#define MAX(a, b) ((a) > (b))
struct point { int x; char *name; };
typedef struct { int y; } other_t;
enum color { RED };
static int count = 0;
int *find(const char *name);
char *start(struct point *p) { int local = 1; return 0; }
"""
CPP = """
#ifndef A
namespace net {
template <typename T> class Server : public Base {
 public:
  Server();
  ~Server() {}
  void start() const;
  int port;
};
using Id = int;
}
void net::Server::start() const { auto f = [] { int x = 1; }; }
Point operator+(const Point &a, const Point &b) { return a; }
#endif
"""
CSHARP = """
namespace A.B {
  public class Server : IRun {
    private int port;
    public string Name { get; set; }
    public Server() {}
    public async Task Start() { int local = 1; void Inner() {} }
    enum Color { Red }
  }
  interface IRun { void Run(); }
  record Point(int X);
}
"""
RUBY = """
module Net
  LIMIT = 3
  class Server < Base
    def start!
      local = 1
    end
    def self.open; end
  end
end
"""
PHP = """<p>page</p>
<?php
namespace App\\Net;
const LIMIT = 3;
interface Runs { function run(); }
class Server implements Runs {
  const PORT = 80;
  private $name = 'x';
  public function run() { $local = fn() => 1; }
}
function main() {}
enum Color { case Red; }
"""
BASH = """#!/bin/bash
LIMIT=3
start() {
  local x=1
  LIMIT=4
}
function stop { :; }
"""
SAMPLES = {
    "python": (
        PYTHON,
        "variable LIMIT 2, type Pair 4, class Server 6-13, field Server.port 8, method Server.start 10-13, "
        "function Server.start.helper 12-13, function main 15",
    ),
    "javascript": (
        JAVASCRIPT,
        "variable LIMIT 3, function run 4, function walk 5, class Server 6-9, field Server.#port 7, "
        "method Server.start 8, function stop 10, variable table 11, method table.go 11",
    ),
    "typescript": (
        TYPESCRIPT,
        "interface Shape 2, method Shape.area 2, field Shape.name 2, type Id 3, enum Color 4, member Color.Red 4, "
        "member Color.Green 4, namespace Inner 5, variable Inner.x 5, class Base 6, field Base.port 6, "
        "method Base.go 6, function main 7",
    ),
    "tsx": (TSX, "function App 2, function Row 3"),
    "go": (
        GO,
        "constant Limit 3, struct Server 4-6, field Server.port 5, interface Runner 7, method Runner.Run 7, type Id 8, "
        "method Server.Start 9, method List.Len 10, function main 11",
    ),
    "rust": (
        RUST,
        "constant LIMIT 2, module inner 3, function inner.deep 3, struct Server 4, field Server.port 4, enum Color 5, "
        "member Color.Red 5, member Color.Green 5, trait Run 6, method Run.run 6, method Server.run 7, "
        "method Color.new 8, macro shout 9",
    ),
    "java": (
        JAVA,
        "class Server 3-9, field Server.port 4, field Server.other 4, constructor Server.Server 5, "
        "method Server.run 6, enum Server.Color 7, member Server.Color.RED 7, class Server.Point 8, "
        "interface Shape 10, method Shape.area 10",
    ),
    "c": (
        C,
        "macro LIMIT 2, macro MAX 3, struct point 4, field point.x 4, field point.name 4, type other_t 5, "
        "field other_t.y 5, enum color 6, member color.RED 6, variable count 7, declaration find 8, function start 9",
    ),
    "cpp": (
        CPP,
        "namespace net 3-12, class net.Server 4-10, declaration net.Server.Server 6, method net.Server.~Server 7, "
        "method net.Server.start 8, field net.Server.port 9, type net.Id 11, method net.Server.start 13, "
        "function operator+ 14",
    ),
    "csharp": (
        CSHARP,
        "namespace A.B 2-12, class A.B.Server 3-9, field A.B.Server.port 4, property A.B.Server.Name 5, "
        "constructor A.B.Server.Server 6, method A.B.Server.Start 7, function A.B.Server.Start.Inner 7, "
        "enum A.B.Server.Color 8, member A.B.Server.Color.Red 8, interface A.B.IRun 10, method A.B.IRun.Run 10, "
        "class A.B.Point 11",
    ),
    "ruby": (
        RUBY,
        "module Net 2-10, constant Net.LIMIT 3, class Net.Server 4-9, method Net.Server.start! 5-7, "
        "method Net.Server.open 8",
    ),
    "php": (
        PHP,
        "namespace App\\Net 3, constant LIMIT 4, interface Runs 5, method Runs.run 5, class Server 6-10, "
        "constant Server.PORT 7, field Server.name 8, method Server.run 9, function main 11, enum Color 12, "
        "member Color.Red 12",
    ),
    "bash": (BASH, "variable LIMIT 2, function start 3-6, function stop 7"),
}


@pytest.mark.parametrize("language", SAMPLES)
def test_what_a_source_defines_is_found(language: str) -> None:
    source, expected = SAMPLES[language]
    symbols = symbols_of(source.encode(), parse(source.encode(), language), language)
    found = [
        f"{symbol.kind} {symbol.way} {symbol.line}" + (f"-{symbol.end_line}" if symbol.end_line > symbol.line else "")
        for symbol in symbols
        if symbol.is_listed
    ]
    assert ", ".join(found) == expected


def test_each_language_has_a_sample_and_a_grammar() -> None:
    assert set(SAMPLES) == set(NAMES)
    for name in NAMES:
        assert grammar(name).query.pattern_count


def test_a_file_is_known_by_its_name_or_its_first_line() -> None:
    assert language_of("a.b.py") == "python"
    assert language_of("A.H") == "cpp"
    assert language_of("Rakefile") == "ruby"
    assert language_of("README") == ""
    assert language_of("a.txt") is None
    assert language_of_first_line(b"#!/usr/bin/env python3.11\nx") == "python"
    assert language_of_first_line(b"#!/bin/sh") == "bash"
    assert language_of_first_line(b"#!") is None
    assert language_of_first_line(b"hello") is None
