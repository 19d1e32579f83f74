#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a zsh at a terminal shows when it lists the completions of a line.

    completions_zsh.py LINE FOLDER    FOLDER has the function _teltools
"""

import os
import pty
import sys

SETUP = """PS1=; unsetopt prompt_sp; fpath=(%s $fpath)
autoload -Uz compinit; compinit -u -D; LISTMAX=0
bindkey '^T' list-choices; edits() { print -n E''DITS }; zle -N zle-line-init edits
"""


def read_until(fd, mark):
    """Returns what comes up to the mark, or to the end of the shell."""
    text = b""
    while mark not in text:
        try:
            piece = os.read(fd, 4096)
        except OSError:
            break
        if not piece:
            break
        text += piece
    return text


def main(line, folder):
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "dumb"
        os.execvp("zsh", ["zsh", "-f", "-i"])
    os.write(fd, (SETUP % folder).encode())
    # keys that come before the line is edited would be the terminal's
    read_until(fd, b"EDITS")
    os.write(fd, line.encode() + b"\x14")
    os.write(fd, b"\x15print DO''NE\n")
    shown = read_until(fd, b"DONE")
    os.write(fd, b"exit\n")
    os.waitpid(pid, 0)
    print(shown.decode("utf-8", "replace"))


main(*sys.argv[1:])
