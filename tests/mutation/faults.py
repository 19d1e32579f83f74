# SPDX-License-Identifier: BSD-2-Clause
#
# Finds places of C for single faults, and writes sources with many of them,
# each behind mutant_is(NUMBER) of switch.c.  It reads C as this repository has
# it: .clang-format's layout, and no macro that hides control flow.

import dataclasses
import re

TOKEN = re.compile(
    r"""(?P<skip>/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:[^\n\\]|\\.)*|\s+|\\\n)
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<number>\.?[0-9](?:[eEpP][+-](?=[0-9])|[\w.])*)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<op><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|[<>=!]=|&&|\|\||[-+*/%&|^]=|.)""",
    re.M | re.S | re.X)

FLIPPED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
KINDS = ("comparison flipped", "constant off by one", "statement dropped",
         "condition negated")
# What binds less than a comparison.
LOOSE = {";", ",", "?", ":", "&&", "||", "^", "|", "=", "+=", "-=", "*=", "/=",
         "%=", "&=", "|=", "^=", "<<=", ">>=", "return", "case", "else", "do"}
OPEN, CLOSE = set("([{"), set(")]}")
SIMPLE = re.compile(r"(\(void\)|\*|\+\+|--)*[A-Za-z_]\w*"
                    r"(\(|\[|\.|->|\+\+|--|[-+*/%&|^]?=|<<=|>>=)")
KEYWORDS = {"return", "goto", "if", "else", "for", "while", "do", "switch",
            "case", "default", "sizeof", "typedef", "static", "const"}
# Memory that is not freed is noticed by "make asan", and changes nothing else.
FREES = re.compile(r"(\(void\))?\w*(free|munmap)\w*\(")


@dataclasses.dataclass
class Fault:
    path: str
    kind: str
    start: int  # the text that it replaces
    end: int
    faulty: str  # what is there with the fault
    line: int = 0
    last: int = 0
    seed: int = 0
    number: int = 0

    def switched(self, text):
        """What is there in the build with all faults."""
        old = text[self.start:self.end]
        on = f"mutant_is({self.number})"
        if self.kind == "statement dropped":
            return f"{{ if (!{on}) {old} }}"
        if self.kind == "condition negated":
            return f"!({old}) == {on}"
        return f"({on} ? ({' '.join(self.faulty.split())}) : ({old}))"

    def diff(self, text):
        """The lines without the fault and with it."""
        first = text.rfind("\n", 0, self.start) + 1
        last = text.find("\n", self.end)
        new = text[first:self.start] + self.faulty + text[self.end:last]
        lines = [f"-{line}" for line in text[first:last].split("\n")]
        return lines + [f"+{line}" for line in new.split("\n")]


class Source:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = [m for m in TOKEN.finditer(text) if m.lastgroup != "skip"]
        self.words = [m[0] for m in self.tokens]
        self.match = self.brackets()

    def brackets(self):
        match, stack = {}, []
        self.inside = []  # the bracket that each token is in
        for i, word in enumerate(self.words):
            self.inside.append(self.words[stack[-1]] if stack else "")
            if word in OPEN:
                stack.append(i)
            elif word in CLOSE and stack:
                match[i] = stack.pop()
                match[match[i]] = i
        return match

    def bodies(self):
        """Ranges of tokens of the bodies of functions."""
        i = 0
        while i < len(self.words):
            if self.words[i] in OPEN and i in self.match:
                end = self.match[i]
                if self.words[i] == "{" and self.words[i - 1] == ")":
                    yield i, end
                i = end
            i += 1

    def fault(self, kind, first, last, faulty):
        """The fault that replaces tokens, the last inclusive."""
        start, end = self.tokens[first].start(), self.tokens[last].end()
        return Fault(self.path, kind, start, end, faulty,
                     self.text.count("\n", 0, start) + 1,
                     self.text.count("\n", 0, end) + 1)

    def faults(self):
        for first, last in self.bodies():
            for i in range(first + 1, last):
                yield from self.at(i)

    def at(self, i):
        word, kind = self.words[i], self.tokens[i].lastgroup
        if word in FLIPPED and kind == "op":
            yield from self.comparison(i)
        elif kind == "number":
            yield from self.constant(i)
        elif word in ("if", "while") and self.words[i + 1] == "(":
            first, last = i + 2, self.match[i + 1] - 1
            start, end = self.tokens[first].start(), self.tokens[last].end()
            yield self.fault(KINDS[3], first, last,
                             f"!({self.text[start:end]})")
        if self.starts_statement(i):
            yield from self.statement(i)

    def operand_end(self, i, step):
        """The last token of an operand next to a comparison, or None."""
        at = i + step
        while True:
            word = self.words[at]
            if word in (CLOSE if step < 0 else OPEN) and word != "}":
                at = self.match[at]
            elif word in OPEN or word in CLOSE or word in LOOSE:
                break
            elif word in FLIPPED:
                return None
            elif word == "&" and (self.tokens[at - 1].lastgroup in
                                  ("word", "number") or
                                  self.words[at - 1] in (")", "]")):
                break
            at += step
        return at - step

    def comparison(self, i):
        left, right = self.operand_end(i, -1), self.operand_end(i, 1)
        if left is None or right is None or left >= i or right <= i:
            return
        at = self.tokens[i]
        yield self.fault(
            KINDS[0], left, right,
            self.text[self.tokens[left].start():at.start()] +
            FLIPPED[at[0]] + self.text[at.end():self.tokens[right].end()])

    def constant(self, i):
        line = self.text.rfind("\n", 0, self.tokens[i].start()) + 1
        if "__builtin_expect" in self.text[line:self.tokens[i].start()]:
            return
        decimal = re.fullmatch("([0-9]+)([uUlL]*)", self.words[i])
        value = f"({self.words[i]} + 1)"
        if decimal:
            # 0 has one neighbour that fits each type
            step = -1 if int(decimal[1]) > 0 and i % 2 else 1
            value = f"{int(decimal[1]) + step}{decimal[2]}"
        yield self.fault(KINDS[1], i, i, value)

    def starts_statement(self, i):
        before = self.words[i - 1]
        if self.inside[i] != "{":
            return False
        if before == ")":
            return self.words[self.match[i - 1] - 1] in ("if", "while", "for")
        if before == ":":
            line = self.text.rfind("\n", 0, self.tokens[i - 1].start()) + 1
            return re.match(r"\s*(case\b[^?]*|\w+):\s*$",
                            self.text[line:self.tokens[i].start()]) is not None
        return before in (";", "{", "}", "else", "do")

    def statement(self, i):
        last = i
        while self.words[last] not in (";", "{", "}", ")"):
            last = self.match[last] + 1 if self.words[last] in OPEN \
                else last + 1
        if self.words[last] != ";":
            return
        text = "".join(self.words[i:last + 1])
        if text == "break;" and self.words[last + 1] == "}":
            # the last of a switch ends it in any case
            before = self.match[last + 1] - 1
            if self.words[self.match.get(before, 0) - 1] == "switch":
                return
        # as "size_t x = 1;" has two words
        declares = self.tokens[i].lastgroup == "word" and \
            self.tokens[i + 1].lastgroup == "word"
        if text in ("break;", "continue;") or (
                not declares and self.words[i] not in KEYWORDS and
                SIMPLE.match(text) and not FREES.match(text)):
            yield self.fault(KINDS[2], i, last, ";")


def overlap(a, b):
    return a.path == b.path and a.start < b.end and b.start < a.end


def with_faults(text, faults):
    """The text of a file with its faults, on the same lines."""
    for fault in sorted(faults, key=lambda f: -f.start):
        text = text[:fault.start] + fault.switched(text) + text[fault.end:]
    # an array of a length that is not constant, and a number as a pointer,
    # are no faults that a compiler would let pass
    return ('int mutant_is(int); _Pragma("GCC diagnostic error \\"-Wvla\\"") '
            '_Pragma("GCC diagnostic error \\"-Wint-conversion\\"") ') + text
