#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a zsh at a terminal shows when it lists the completions of a line.

    completions_zsh.py LINE FOLDER    FOLDER has the function _teltools

No key is pressed: the shell puts the line into its editor by itself, lists
what completes it, and says that it has.  Keys would be lost, or would end the
listing, when they came while the shell is busy.
"""

import os
import pty
import signal
import sys

SETUP = r"""
PS1= LISTMAX=0
unsetopt prompt_sp
fpath=("$COMPLETIONS" $fpath)
autoload -Uz compinit
compinit -u -d "$COMPLETIONS/dump"
zle-line-init() {
	BUFFER=$LINE_TO_COMPLETE
	CURSOR=$#BUFFER
	zle list-choices
	zle -R
	print -n LIS''TED
}
zle -N zle-line-init
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
    with open(os.path.join(folder, ".zshrc"), "w", encoding="utf-8") as rc:
        rc.write(SETUP)
    # the search for leaks when a tool ends may wait forever in a shell that
    # has signals blocked, as zsh has while it completes
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    os.environ.update(ASAN_OPTIONS=sanitizer.lstrip(":"), TERM="dumb",
                      ZDOTDIR=folder, COMPLETIONS=folder,
                      LINE_TO_COMPLETE=line)
    pid, fd = pty.fork()
    if pid == 0:
        # -d: nothing of the machine's own start-up files
        os.execvp("zsh", ["zsh", "-d", "-i"])
    shown = read_until(fd, b"LISTED")
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    print(shown.decode("utf-8", "replace"))


main(*sys.argv[1:])
