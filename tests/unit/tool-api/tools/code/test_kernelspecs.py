"""Which kernels there are, by files that the agent may have written."""

from __future__ import annotations

import json
from pathlib import Path

from tool_api.tools.code.kernelspecs import MAX_SPECS, PYTHON, KernelSpec, KernelSpecs


def install(folder: Path, name: str, **fields: object) -> Path:
    file = folder / name / "kernel.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"argv": ["run"], "language": name, "display_name": name} | fields))
    return file


def folders(tmp_path: Path) -> tuple[Path, Path, KernelSpecs]:
    own = tmp_path / "venv" / "share" / "jupyter" / "kernels"
    users = tmp_path / "home" / ".local" / "share" / "jupyter" / "kernels"
    return own, users, KernelSpecs(tmp_path / "venv" / "bin" / "python", tmp_path / "home")


def test_installed_ones_are_found_by_language_and_by_name(tmp_path: Path) -> None:
    own, users, specs = folders(tmp_path)
    install(own, "python3-of-the-image", language="python")
    install(users, "lua54", language="Lua", interrupt_mode="message", env={"A": "b"})
    found = {spec.name: spec for spec in specs.all()}
    assert found["python3"].runs("Python")
    assert found["python3-of-the-image"].runs("python")
    assert found["lua54"].runs("lua")
    assert found["lua54"].runs("lua54")
    assert (found["lua54"].interrupt_mode, found["lua54"].env) == ("message", {"A": "b"})


def test_one_of_the_users_takes_no_name_of_ours(tmp_path: Path) -> None:
    own, users, specs = folders(tmp_path)
    install(own, "lua", argv=["ours"])
    for name in ("lua", "python3"):
        install(users, name, argv=["theirs"])
    assert [spec.argv for spec in specs.all()] == [PYTHON.argv, ["ours"]]


def test_what_is_no_specification_is_passed_over(tmp_path: Path) -> None:
    _, users, specs = folders(tmp_path)
    install(users, "good")
    for name, text in {"empty": "", "list": "[]", "bytes": "\udc80"}.items():
        (users / name).mkdir()
        (users / name / "kernel.json").write_text(text, errors="surrogateescape")
    install(users, "no-argv", argv=[])
    install(users, "odd", language="a\nb")
    (users / "folder" / "kernel.json").mkdir(parents=True)
    (users / "file").write_text("x")
    assert [spec.name for spec in specs.all() if spec.language != "python"] == ["good"]


def test_a_kernel_of_python_runs_by_the_kernels_interpreter_and_another_one_as_it_says(tmp_path: Path) -> None:
    python, file = tmp_path / "python", tmp_path / "connection.json"
    command = PYTHON.command(python, file)
    assert (command[0], command[2:]) == (str(python), [str(tmp_path), "-m", "ipykernel_launcher", "-f", str(file)])
    assert command[1].endswith("python_launcher.py")
    other = KernelSpec(argv=["lua", "{connection_file}"], language="lua")
    assert other.command(python, file) == ["lua", str(file)]


def test_only_so_many_are_told(tmp_path: Path) -> None:
    _, users, specs = folders(tmp_path)
    for number in range(MAX_SPECS + 5):
        install(users, f"k{number}")
    assert len(specs.all()) == MAX_SPECS
