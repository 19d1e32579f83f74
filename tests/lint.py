#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
#
# Finds lines of bats tests that cannot fail, or that lose the status of a
# command of teltools; and in scripts and style sheets of pages what is too
# wide, and whatever could make markup or a program of text:
#
#	tests/lint.py FILE ...
#
# Prints a line for each, and exits with status 1 if there are any.  It reads
# shell as the tests write it, which is less than all of shell.

import re
import sys

TOOLS = r"(?:telcat|telfilter|telstat|telreplay|telrec)"

# What starts another command, which then is not the function that notes the
# statuses of the commands, tests/cli/status.bash.  The text of a string is not
# looked at: a shell in a shell is always suspect.
STARTERS = r"(?:command|env|nice|nohup|setsid|timeout|xargs)"
SHELLS = r"(?:(?:ba|da)?sh (?:-\S+ )*(?:-o pipefail )?-\w*c\b|script -\w+)"

# What precedes the first word of a command.
START = r"(?:^|[;&|(){}]|\b(?:do|then|else)\b)\s*"

# What checks the status of the command that follows it.
CHECKED = r"(?:run|noted|clean|expect \d+ \S+|exits \S+)(?: -\d+| \"_+\"| !| --separate-stderr)*"


class Mask:
    """Shell with the text of strings, comments and here-documents blanked."""

    def __init__(self, text):
        self.text = text
        self.at = 0
        self.out = []
        self.pending = []  # here-documents whose text starts at the next line
        self.code(None)

    def keep(self, n=1):
        self.out.append(self.text[self.at:self.at + n])
        self.at += n

    def blank(self, end):
        piece = self.text[self.at:end]
        self.out.append(re.sub(r"[^\n]", "_", piece))
        self.at = end

    def code(self, closer):
        """Shell code up to the end of the text, or to the closing bracket."""
        depth = 0
        while self.at < len(self.text):
            c = self.text[self.at]
            if c == closer and depth == 0:
                self.keep()
                return
            if c == "\\":
                self.keep(2)
            elif c == "\n":
                self.newline()
            elif c == "'":
                self.single()
            elif c == '"':
                self.double()
            elif c == "$":
                self.dollar()
            elif c == "#" and self.text[self.at - 1:self.at] in ("", " ", "\t", "\n"):
                end = self.text.find("\n", self.at)
                self.blank(len(self.text) if end < 0 else end)
            elif c == "<" and self.heredoc():
                pass
            else:
                depth += (c == "(") - (c == ")" and depth > 0)
                self.keep()

    def single(self):
        end = self.text.find("'", self.at + 1)
        self.keep()
        self.blank(len(self.text) if end < 0 else end)
        self.keep()

    def double(self):
        self.keep()
        while self.at < len(self.text) and self.text[self.at] != '"':
            if self.text[self.at] == "$":
                self.dollar()
            else:
                step = 2 if self.text[self.at] == "\\" else 1
                self.blank(self.at + step)
        self.keep()

    def dollar(self):
        rest = self.text[self.at:]
        if rest.startswith("$(("):
            end = self.text.find("))", self.at)
            self.blank(end + 2)
        elif rest.startswith("$("):
            self.keep(2)
            self.code(")")
        elif rest.startswith("${"):
            self.blank(self.text.find("}", self.at) + 1)
        elif rest.startswith("$'"):
            match = re.match(r"\$'(?:[^'\\]|\\.)*'", rest, re.S)
            self.blank(self.at + match.end())
        elif rest.startswith("$#"):
            self.blank(self.at + 2)
        else:
            self.keep()

    def heredoc(self):
        rest = self.text[self.at:]
        if rest.startswith("<<<"):
            self.keep(3)
            return True
        match = re.match(r"<<(-?)\s*(['\"]?)(\w+)\2", rest)
        if not match:
            return False
        self.pending.append((match[1] == "-", match[3]))
        self.blank(self.at + match.end())
        return True

    def newline(self):
        self.keep()
        for tabs, word in self.pending:
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at:end]
                self.blank(end)
                self.keep()
                if (line.lstrip("\t") if tabs else line) == word:
                    break
        self.pending = []


def statements(masked):
    """(line number, text) of each statement, with its continuation lines."""
    lines = masked.split("\n")
    first, text = 0, ""
    for number, line in enumerate(lines, 1):
        first = first or number
        text += line
        stripped = text.rstrip()
        if stripped.endswith("\\"):
            text = stripped[:-1] + " "
            continue
        if re.search(r"(\||&&)$", stripped):
            text = stripped + " "
            continue
        yield first, re.sub(r"\[\[ .*? \]\]", "[[]]", text)
        first, text = 0, ""


def simple(text, at):
    """Where the command list around a place of a statement starts."""
    start = 0
    for match in re.finditer(r";;?|\b(?:do|then|else)\b|\{ |\(|\) ", text[:at]):
        start = match.end()
    return start


def negations(text):
    for match in re.finditer(rf"{START}!\s", text):
        start = simple(text, match.end() - 1)
        if not re.match(r"\s*(if|elif|while|until)\b", text[start:]):
            yield "the status of '! command' fails no test: use 'run !'"


def lists(text):
    for match in re.finditer(r"&&", text):
        before, after = text[:match.start()], text[match.end():]
        list_ = text[simple(text, match.start()):]
        inside = re.sub(r"\([^()]*\)", "", before)
        if re.match(r"\s*(if|elif|while|until)\b", list_) or "(" in inside:
            continue
        if re.match(r"\s*(break|continue|return|skip|\w+=)", after):
            continue
        if "||" in after.split(";")[0]:
            continue
        yield "'a && b' fails no test when a fails: write two lines, or 'if'"


def losses(text):
    for match in re.finditer(rf"{START}([^|;&()]*?)\b"
                             rf"({STARTERS} [^|;&()]*\b{TOOLS}\b|{SHELLS} )",
                             text):
        if not re.search(rf"\b(?:{CHECKED}\b|terminal\(\) )", match[1]):
            yield f"nothing looks at the status of '{match[2].strip()}'"


def runs(number, text, lines):
    """run without a status: the test must look at $status itself."""
    for match in re.finditer(rf"{START}run(?= )", text):
        if re.match(r"""\s(-\d+|-"?\$|!|"_)""", text[match.end():]):
            continue
        for line in lines[number:]:
            if "$status" in line:
                break
            if re.match(r"\s*(run|expect)\b|}", line):
                yield "nothing looks at the status of 'run': say 'run -N'"
                break


# What a page may not use, as its data come from logs; and columns of a line,
# where a tab has four.
UNSAFE = r"(?:\b(?:eval|execScript)\s*\(|\bnew\s+Function\b|" \
    r"\b(?:inner|outer)HTML\b|\binsertAdjacentHTML\b|" \
    r"\bdocument\s*\.\s*write|\bsrcdoc\b|\bcreateContextualFragment\b|" \
    r"\bDOMParser\b|\bimport\s*\(|\bimportScripts\b)"
WIDTH = 80


def page_complaints(text):
    """(line number, complaint) of a file of a page."""
    for number, line in enumerate(text.split("\n"), 1):
        if number == 1 and "SPDX-License-Identifier" not in line:
            yield number, "the first line is not that of the licence"
        if len(line.expandtabs(4)) > WIDTH:
            yield number, f"more than {WIDTH} columns"
        if re.search(r"[ \t]$|^\t* {2}|[^\t]\t", line):
            yield number, "blanks where tabs indent, or at the end"
        if re.search(UNSAFE, line):
            yield number, "text of a log could become markup or a program"


def complaints(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith((".js", ".css", ".html")):
        for number, complaint in page_complaints(text):
            yield f"{path}:{number}: {complaint}"
        return
    lines = text.split("\n")
    for number, statement in statements("".join(Mask(text).out)):
        found = [*negations(statement), *lists(statement),
                 *runs(number, statement, lines)]
        if not path.endswith("status.bash"):
            found += losses(statement)
        for complaint in found:
            yield f"{path}:{number}: {complaint}"


def main():
    found = [c for path in sys.argv[1:] for c in complaints(path)]
    print("\n".join(found) + "\n" if found else "", end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
