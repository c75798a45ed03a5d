"""Functions for scenes of the demo model: each adds computed fields to the scene that names it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from backend_api.models.demo.request import Fields, Request, fenced, quoted

MOST_READ = 3
"""The most files that are read for one message."""
MOST_WORDS = 20_000
_WHAT_I_DO = re.compile(r"^(which|what)(\s.+?)?\s+I\s+(\w+)[.?]?$", re.IGNORECASE)
_WANTS = re.compile(r"^(?:最?喜欢|想|要)")
_IS_OPEN = re.compile(r"^(?:which|what|who|where|when|why|how)\b|什么|哪|谁|怎|几|多少", re.IGNORECASE)
_IS_ABOUT_TEA = re.compile(r"\bteas?\b|茶", re.IGNORECASE)

_KEPT = re.compile(r"^(?:Kept|It was kept before,) as (\S+):", re.MULTILINE)
_CONFIRMED = re.compile(r"^\[(rec[^\]\n]*)\] (.+)$", re.MULTILINE)
_RECORD = re.compile(r"\[rec_\w+, ")
_CITED = re.compile(r"Cite it as \[@([\w:.-]+)\]")
_BEGUN = re.compile(r"^Created (\S+)\.", re.MULTILINE)


def tasks(request: Request) -> Fields:
    """Fields for sub-agents: their `tasks`, the `count`, and the `answers`, each under its task."""
    wanted = request.fields["task"]
    given = [wanted] if wanted else [request.text("first_task"), request.text("second_task")]
    described = {call.call_id: (call.arguments or {}).get("description") for a in request.answers for call in a.calls}
    parts = [request.text("all_done" if len(request.results) > 1 else "one_done")]
    for result in request.results:
        said = result.output if result.success else request.text("failed", output=fenced(result.output))
        parts += [f"**{described.get(result.call_id) or result.call_id}**", quoted(said)]
    return {
        "tasks": [{"task": task, "short": task[:80]} for task in given],
        "count": len(given),
        "answers": "\n\n".join(parts),
    }


def question(request: Request) -> Fields:
    """The `question`, its `options` (none if only the person can know), and the `answer` as code."""
    text = request.fields["question"]
    if found := _WHAT_I_DO.match(text):
        asks, about, does = found.groups(default="")
        text = f"{asks.capitalize()}{about} do you {does}?"
    elif _WANTS.match(text):
        text = f"你{text.rstrip('。？?')}？"
    names: tuple[str, ...] = ()
    if not _IS_OPEN.search(text):
        names = ("yes_option", "no_option")
    elif _IS_ABOUT_TEA.search(text):
        names = ("green_tea", "oolong", "black_tea")
    answer = request.fields["plain_output"].partition(f"{text}\n> ")[2].strip()
    options = [request.text(name) for name in names]
    return {"question": text, "options": options, "answer": fenced(answer) if answer else ""}


def report(request: Request) -> Fields:
    """The `title` and `path` of a report, the result of a `search` if there was one, and a note on `gaps`."""
    topic, results = request.fields["topic"], request.results
    name = re.sub(r"[^\w]+", "-", topic.lower()).strip("-")[:40] or "report"
    search = ""
    if len(results) > 1:
        found = results[1].output.strip()[:6000] if results[1].success else ""
        search = request.text("searched", found=found or request.text("nothing_found"))
    return {
        "title": topic[:1].upper() + topic[1:],
        "path": f"reports/{name}.md",
        "search": search,
        "gaps": "" if all(result.success for result in results) else request.text("with_gaps"),
    }


def attached_files(request: Request) -> Fields:
    """The `files` that came with the message, their `names`, and the `contents` of those that were read."""
    paths = request.attachments[:MOST_READ]
    shown = [f"`{path}`\n\n{fenced(result.output)}" for path, result in zip(paths, request.results, strict=False)]
    return {
        "files": [{"path": path} for path in paths],
        "names": ", ".join(f"`{path}`" for path in paths),
        "contents": "\n\n".join(shown),
    }


def written_paper(request: Request) -> Fields:
    """The words of the agent that read, `said`, without ids, which tell people nothing; the `records` that were kept,
    their `keys` as `key1` and so on, and the `project`, taken from results."""
    told = [result.output for result in request.results if result.success]
    records = [found for one in told for found in _KEPT.findall(one)]
    keys = [found[1] for one in told if (found := _CITED.search(one))]
    begun = next((found[1] for one in told if (found := _BEGUN.search(one))), "")
    by_number = {f"key{number}": key for number, key in enumerate([*keys, *["?"] * 4][:4], 1)}
    read = told[0] if told else ""
    findings = "\n".join(line for line in read.splitlines() if not _KEPT.match(line)).strip()
    said = quoted(_RECORD.sub("[", findings) or "-")
    return {"records": [{"record": one} for one in records], "project": begun, "said": said, **by_number}


def read_papers(request: Request) -> Fields:
    """The records that were `kept`, as their lines and by number, and the `findings` that were confirmed."""
    told = [result.output for result in request.results if result.success]
    kept = [line for one in told for line in one.splitlines() if _KEPT.match(line)]
    by_number = dict.fromkeys((f"record{number}" for number in range(1, 5)), "")
    by_number |= {f"record{number}": line.split(" as ")[1].partition(":")[0] for number, line in enumerate(kept[:4], 1)}
    found = [f"- {claim} [{mark}]" for one in told for mark, claim in _CONFIRMED.findall(one)]
    return {"kept": "\n".join(kept), "findings": "\n".join(found), **by_number}


def numbered_words(request: Request) -> Fields:
    """As many `words` as requested."""
    count = min(int(request.fields["count"]), MOST_WORDS)
    return {"words": " ".join(f"word{number}" for number in range(1, count + 1))}


def whole_url(request: Request) -> Fields:
    """The `url` with its scheme."""
    url = request.fields["url"]
    return {"url": url if re.match(r"[a-z]+:", url) else f"https://{url}"}


FUNCTIONS: Mapping[str, Callable[[Request], Fields]] = {
    function.__name__: function
    for function in (attached_files, numbered_words, question, read_papers, report, tasks, whole_url, written_paper)
}
