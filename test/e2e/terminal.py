"""Runs one command in a pseudo-terminal of 120 by 40: terminal.py COMMAND [ARG...].

Standard input is typed into it, its screen output comes out on standard output, and the command's whole process group
ends when standard input closes, so a test that dies leaves nothing behind. Node has no pseudo-terminals of its own.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios

pid, master = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))


def hang_up():
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


sources = [master, 0]
while True:
    ready, _, _ = select.select(sources, [], [])
    if 0 in ready:
        typed = os.read(0, 65536)
        if not typed:
            hang_up()
            sources.remove(0)
        else:
            os.write(master, typed)
    if master in ready:
        try:
            shown = os.read(master, 65536)
        except OSError:  # Linux reports the end of a terminal as an input/output error.
            shown = b""
        if not shown:
            break
        os.write(1, shown)
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
