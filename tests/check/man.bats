#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The manual: complete, and without loose ends.

load lib

@test "mandoc finds nothing to complain of" {
	run -0 mandoc -Tlint -Wwarning "$TEL_TOP"/man/*.[1-8]
	[ -z "$output" ]
}

@test "each function of tel.h is in the synopsis of a page, and no other" {
	declared_functions >"$BATS_TEST_TMPDIR/declared"
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/s/^\.F[no] "\{0,1\}\(tel_[a-z0-9_]*\).*/\1/p' \
	    "$TEL_TOP"/man/*.3 | sort -u >"$BATS_TEST_TMPDIR/documented"
	diff -u "$BATS_TEST_TMPDIR/declared" "$BATS_TEST_TMPDIR/documented"
}

@test "references to pages of ours lead to pages that there are" {
	sed -n 's/^\.Xr \(\(lib\)\{0,1\}tel[^ ]*\) \([1-8]\).*/\1.\3/p' \
	    "$TEL_TOP"/man/*.[1-8] | sort -u >"$BATS_TEST_TMPDIR/targets"
	test -s "$BATS_TEST_TMPDIR/targets"
	while read -r page; do
		echo "$page"
		test -f "$TEL_TOP/man/$page"
	done <"$BATS_TEST_TMPDIR/targets"
}

@test "each command has a page with exit status and examples" {
	for tool in $(tools); do
		echo "$tool"
		grep -q '^\.Sh EXIT STATUS' "$TEL_TOP/man/$tool.1"
		grep -q '^\.Sh EXAMPLES' "$TEL_TOP/man/$tool.1"
	done
}

@test "each option that a command offers is in its page or teltools(7)" {
	for tool in $(tools); do
		mandoc -Tascii "$TEL_TOP/man/$tool.1" \
		    "$TEL_TOP/man/teltools.7" | sed 's/.\x08//g' \
		    >"$BATS_TEST_TMPDIR/page"
		"$tool" --help=all | grep -o -e '--[a-z][a-z0-9-]*' | sort -u \
		    >"$BATS_TEST_TMPDIR/options"
		test -s "$BATS_TEST_TMPDIR/options"
		while read -r option; do
			echo "$tool $option"
			grep -q -e "$option\>" "$BATS_TEST_TMPDIR/page"
		done <"$BATS_TEST_TMPDIR/options"
	done
}

# Each starts with examples that the tests run; those of telstat answer five
# questions.
@test "the page of a command begins with examples that answer questions" {
	for tool in $(tools) teltools; do
		echo "$tool"
		awk -v least="$([ "$tool" = telstat ] && echo 5 || echo 3)" '
		    /^\.\\" (run|test)/ { marked = 1 }
		    /^\.It Fl/ { exit }
		    marked && /^[$] .*# .*[a-z?]$/ { n++ }
		    END { exit n < least }' "$TEL_TOP/man/$tool".[17]
	done
}

@test "pages, --help and --help=all have the same options, in the same order" {
	for tool in $(tools); do
		"$tool" --help=all >"$BATS_TEST_TMPDIR/$tool.all"
		"$tool" --help >"$BATS_TEST_TMPDIR/$tool.usual"
	done
	# shellcheck disable=SC2046 # words
	python3 - "$TEL_TOP/man" "$BATS_TEST_TMPDIR" $(tools) <<-'END'
		import re
		import sys

		man, tmp, *tools = sys.argv[1:]

		# the letters and names of a list that --help prints
		def printed(tool, which):
		    with open(f"{tmp}/{tool}.{which}") as f:
		        return re.findall(r"^  (?:-(.), |    )--([a-z0-9-]+)",
		                          f.read(), re.M)

		# the options of a text in mdoc: the items of its lists, and those
		# that it refers to teltools(7) for
		def documented(text, letters):
		    def name(word):
		        return word[1:] if word[0] == "-" else letters[word]
		    items = [[name(w) for w in re.findall(r"Fl (-?[\w-]+)", line)]
		             for line in re.findall(r"^\.It (Fl .*)", text, re.M)]
		    common = re.search(r"described in\n\.Xr teltools 7 :\n"
		                       r"((?:\.Fl \S+ [,.]\n)+)", text)
		    common = re.findall(r"^\.Fl (\S+)", common[1] if common else "",
		                        re.M)
		    return [n for i in items for n in i], [name(w) for w in common]

		def split(page):
		    with open(f"{man}/{page}") as f:
		        text = f.read()
		    rare = re.search(r"^\.Sh RARE OPTIONS\n.*?(?=^\.Sh )", text,
		                     re.M | re.S)
		    return text.replace(rare[0], ""), rare[0]

		def in_order(names, order):
		    places = [order.index(n) for n in names if n in order]
		    assert places == sorted(places), names

		letters, rare_of, usual_of = {}, {}, {}
		for tool in tools:
		    rows = printed(tool, "all")
		    order = [name for _, name in rows]
		    usual = {name for _, name in printed(tool, "usual")}
		    rare = set(order) - usual
		    assert usual and rare, tool
		    own = {letter: name for letter, name in rows if letter}
		    if tool != "telrec":
		        letters.update(own)
		        rare_of[tool], usual_of[tool] = rare, usual
		    for text, expected in zip(split(tool + ".1"), (usual, rare)):
		        items, common = documented(text, own)
		        if ".Ss Formats\n.Fl f , Fl -format" in text:
		            common.append("format")
		        got = items + common
		        assert set(got) == expected, (tool, set(got) ^ expected)
		        in_order(dict.fromkeys(items), order)
		        in_order([n for n in common if n != "format"], order)

		# the options of several tools; what one of them lists is not rare
		text, rare = split("teltools.7")
		items, _ = documented(rare, letters)
		listed = set().union(*usual_of.values())
		assert items and not set(items) & listed, items
		shared, _ = documented(text, letters)
		assert set(shared) <= listed, set(shared) - listed
		order = [name for _, name in printed("telcat", "all")]
		in_order(shared, order)
		in_order(items, order)
	END
}
