# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the tests of telcat -f html share: a page as its script reads it.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	# shellcheck disable=SC2034 # the tests use it
	MPS=$TEL_TOP/tests/data/mps
	READ=$TEL_TOP/tests/page/read_page.py
}

page() { # COMMAND PAGE
	python3 "$READ" "$@"
}

# Runs Python with what a page has, and the events of its log as JSON.
compare_with() { # PAGE EVENTS, Python on standard input
	{
		echo 'import collections, json, sys'
		echo 'sys.path.insert(0, sys.argv[1])'
		echo 'from read_page import Page'
		echo 'page = Page(sys.argv[2]); paths = page.paths()'
		echo 'events = [json.loads(line) for line in open(sys.argv[3])]'
		cat
	} >compare.py
	python3 compare.py "$TEL_TOP/tests/page" "$1" "$2"
}
