"""Takes a picture of an X display, as a program of its own: the display's server decides what it answers, and when.

Its argument: JSON of `display`, `region` (left, top, right, bottom) or null, and `size` (width, height) of the picture.
Standard output: a JPEG.
"""

from __future__ import annotations

import io
import json
import resource
import sys

from PIL import Image, ImageGrab

MEMORY_BYTES = 768 * 1024 * 1024
CPU_S = 20
MAX_BYTES = 1_500_000


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asked = json.loads(sys.argv[1])
    region, size = asked["region"], tuple(asked["size"])
    picture = ImageGrab.grab(bbox=tuple(region) if region else None, xdisplay=asked["display"]).convert("RGB")
    if picture.size != size:
        picture = picture.resize(size, Image.Resampling.LANCZOS)  # pyright: ignore[reportUnknownMemberType]  # NumPy's part
    for quality in (80, 55, 30):
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=quality)
        if out.tell() <= MAX_BYTES:
            break
    sys.stdout.buffer.write(out.getvalue())
