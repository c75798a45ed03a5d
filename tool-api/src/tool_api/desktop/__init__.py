"""The desktop of the sandbox: X server with VNC, window manager and Chrome, started in order and kept alive."""
