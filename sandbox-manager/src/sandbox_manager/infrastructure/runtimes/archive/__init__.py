"""Packs a workspace into an archive and back. A program of its own, of the standard library and these modules alone: it
runs confined to the two folders.

    python -I -c <this program> pack|unpack|mend|drop WORKSPACE ARCHIVES NAME MAX_BYTES MAX_FILES

It writes one line of JSON and is done. Unpacking is whole or not at all: everything is unpacked into `STAGE` first;
then a file beside the archives says that it is complete, and from then on `mend` completes an interrupted exchange,
never undoes it.
"""
