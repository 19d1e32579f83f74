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

# Names that only a sentence explained, and that became terms of the field: in
# code, as whole words.
NAMES=(
	act AL_NOISE AL_SILENT al_held al_past al_stands block_begins block_ends
	crowded cycles_each END_ONE give_back GO_ON goes_on html_draft is_silent
	leave_matches look_again masks_fit may_be_one nap op_ways pass_by pump
	pyramid says_build sink_open STAGE_LEFTOVER team tel_chooser tel_evidence
	tel_found tel_kept tel_lead tel_mark tel_tally tell tel__program_like
	tel__program_may trit unsure
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

@test "names that were replaced by terms of the field are not used again" {
	names=$(IFS='|'; echo "${NAMES[*]}")
	# strings and comments may have these words
	find cmd lib include -name '*.[ch]' -print0 |
	    xargs -0 sed -E -s 's/"([^"\\]|\\.)*"//g; s|/\*.*\*/||g; s|/\*.*||
		s|^[[:blank:]]*\*.*||; s|.*\*/||' |
	    grep -wE -- "$names" >"$BATS_TEST_TMPDIR/names" || true
	cat "$BATS_TEST_TMPDIR/names"
	[ ! -s "$BATS_TEST_TMPDIR/names" ]
}
