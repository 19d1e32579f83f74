#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Wordings that readers stumbled over do not come back: CONTRIBUTING.md, Rules.

load lib

# Each is a regular expression of Perl, without a match in other text.
WORDINGS=(
	'\b(is|are|be|was|were|been|gets?|unless) told\b'
	'\btold (of|apart|by)\b'
	'\bwhat stands\b'
	'\bas (it|they) (stands?|stood)\b'
	'\bmakes? no sense\b'
	'\b(the|a|its|their|each|from|without) begin\b'
	'\bbegin of\b'
	'(?<=[a-z"])(?<!there) (is|are|was|were) no (?!longer\b|such\b|more\b)'
	'\bnothing for a terminal\b'
	'\bshould be here\b'
	'\bis a log again\b'
	'\bown part subtracted\b'
	'\bhas no place there\b'
	'\bhow far it is\b'
	'\bcomes from Debian\b'
	'\bcosts the blocks\b'
	'\bcame too late for their place\b'
)

# The same, in what is no string: a subject that acts is missing there.
COMMENTS=(
	'\bsays\b'
	'\bwhat is\b'
	'\bstands? (here|there|before|behind|in)\b'
	'\bhow far\b'
	'\bdear\b'
	'\bbut for\b'
)

# What users read: pages, public headers, and the strings of programs.
texts() {
	find README.md NEWS.md CONTRIBUTING.md man include examples share \
		debian -type f ! -name '*.png' -print0
}

programs() {
	find cmd lib python -type f \( -name '*.[ch]' -o -name '*.py' \) -print0
}

@test "wordings that were replaced are not used again" {
	local found=0 wording
	for wording in "${WORDINGS[@]}"; do
		if texts | xargs -0 grep -nIPi -- "$wording" ||
		    programs | xargs -0 grep -nIPi -- "\"[^\"]*$wording"; then
			echo "not to be used: $wording"
			found=1
		fi
	done
	for wording in "${COMMENTS[@]}"; do
		if find cmd lib include -name '*.[ch]' -print0 |
		    xargs -0 grep -nIPi -- "^[^\"]*$wording"; then
			echo "not to be used in comments: $wording"
			found=1
		fi
	done
	[ "$found" -eq 0 ]
}
