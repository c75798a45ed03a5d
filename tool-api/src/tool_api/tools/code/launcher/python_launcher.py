"""Runs a kernel written in Python, as `python -m MODULE ...` or `python FILE ...` would.

ipykernel receives the output of forked processes through a TCP socket. For such a socket ZeroMQ looks up the machine's
network devices, which a sandbox may not do, and ends the process if it can't: here the socket is a file, too.
"""

from __future__ import annotations

import logging
import os
import runpy
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

_CHINESE = Path("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")


def main() -> None:
    if _CHINESE.exists():
        # matplotlib warns of a missing font family at each figure.
        os.environ.setdefault("MATPLOTLIBRC", str(Path(__file__).with_name("matplotlibrc")))
    # The first figure of a sandbox builds the font cache; a notice of that is no result of the code.
    logging.getLogger("matplotlib.font_manager").addFilter(_is_not_about_font_cache)
    folder, *argv = sys.argv[1:]
    del sys.path[0]
    with suppress(ImportError):
        _pass_output_of_forks_through(f"ipc://{folder}/forks")
    if argv[0] == "-m":
        sys.argv = argv[1:]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = argv
        sys.path.insert(0, str(Path(argv[0]).resolve().parent))
        runpy.run_path(argv[0], run_name="__main__")


def _is_not_about_font_cache(record: logging.LogRecord) -> bool:
    return "building the font cache" not in record.getMessage()


def _pass_output_of_forks_through(address: str) -> None:
    # Their own module, as it may be missing where this is checked.
    iostream: Any = import_module("ipykernel.iostream")
    zmq: Any = import_module("zmq")

    def set_up_pipe_in(thread: Any) -> None:
        thread._pipe_uuid = os.urandom(16)
        pipe = thread.socket.context.socket(zmq.PULL)
        pipe.linger = 0
        pipe.bind(address)
        thread._pipe_in = iostream.ZMQStream(pipe, thread.io_loop)
        thread._pipe_in.on_recv(thread._handle_pipe_msg)

    def set_up_pipe_out(_: Any) -> tuple[Any, Any]:
        context = zmq.Context()
        pipe = context.socket(zmq.PUSH)
        pipe.linger = 3000
        pipe.connect(address)
        return context, pipe

    iostream.IOPubThread._setup_pipe_in = set_up_pipe_in
    iostream.IOPubThread._setup_pipe_out = set_up_pipe_out


if __name__ == "__main__":
    main()
