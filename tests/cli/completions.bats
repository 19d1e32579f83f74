#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The completions of bash, fish and zsh, asked in the shells themselves.

# shellcheck disable=SC2154

load lib

SHARE=$TEL_TOP/share/completions

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	unpack 1.118.0-lii6gc-poolncv
	touch 'a file.log'
}

# in_bash WORD ...: what bash offers for the last word, a line for each.
in_bash() {
	# shellcheck disable=SC2016
	clean bash --norc --noprofile -c '
		source "$1"
		shift
		compopt() { :; }
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_teltools "$1" "${COMP_WORDS[COMP_CWORD]}" \
		    "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}"' bash \
	    "$SHARE/teltools.bash" "$@"
}

# each_in_bash TOOL <NAMES: the options that are not completed, of all, and each
# by itself, or a sample.
each_in_bash() {
	local names
	names=$(cat)
	in_bash "$1" -- | sed 's/^--//' >offered
	grep -vxFf offered <<<"$names" ||
	    sample 12 <<<"$names" | alone_in_bash "$1"
}

alone_in_bash() {
	# shellcheck disable=SC2016
	clean bash --norc --noprofile -c '
		source "$1"
		compopt() { :; }
		while read -r name; do
			COMP_WORDS=("$2" "--$name")
			COMP_CWORD=1
			_teltools "$2" "--$name" "$2"
			printf "%s\n" "${COMPREPLY[@]}" |
			    grep -qx -e "--$name" || echo "$name"
		done' bash "$SHARE/teltools.bash" "$1"
}

# fish_lines LINE: what fish offers at its end, with descriptions.
fish_lines() {
	# shellcheck disable=SC2016
	HOME=$BATS_TEST_TMPDIR fish --no-config -c '
		set -p fish_complete_path $argv[1]
		complete -C $argv[2]' "$BATS_TEST_TMPDIR/fish" "$1"
}

in_fish() {
	fish_lines "$1" | cut -f 1
}

# in_zsh LINE: the screen of a zsh that lists what it offers at its end.
in_zsh() {
	timeout 60 python3 "$TEL_TOP/tests/cli/completions_zsh.py" "$1" \
	    "$BATS_TEST_TMPDIR/zsh"
}

@test "bash completes options, formats, types, kinds and files" {
	in_bash telcat --form | grep -qx -e --format
	in_bash telcat --form | run ! grep -v -e --format
	[ "$(in_bash telfilter --wh)" = --where ]
	in_bash telcat -f c | sort | tr '\n' ' ' | grep -x 'chrome csv '
	[ "$(in_bash telcat --format = js)" = json ]
	[ "$(in_bash telcat --color = al)" = always ]
	[ "$(in_bash telreplay --order to)" = total ]
	[ "$(in_bash telreplay -a glibc,mi)" = glibc,mimalloc ]
	[ "$(in_bash telcat mpsio.log -k Po)" = Pool ]
	in_bash telcat mpsio.log -e PoolInit | grep -qx PoolInitMVFF
	[ "$(in_bash telcat mpsio.log -k Arena,Po)" = Arena,Pool ]
	in_bash telcat mpsio.log -F si | grep -qx size
	in_bash telcat -S mps | grep -qx mpsio.log
	[ "$(in_bash telrec --times ex)" = exact ]
	[ "$(in_bash telrec --stacks = )" = 'unwind
fp' ]
	[ "$(in_bash telstat --stacks = pe)" = peak ]
	[ "$(in_bash telcat --weight le)" = leaked ]
	[ "$(in_bash telrec -a ./mps)" = ./mpsio.log ]
	[ "$(in_bash telrec --symbols mps)" = mpsio.log ]
	in_bash telstat 'a f' | grep -qx 'a file.log'
	[ -z "$(in_bash telcat -n 1)" ]
}

@test "bash completes each option of each tool" {
	for tool in telcat telfilter telstat telreplay telrec; do
		"$tool" --help=table | cut -f 2 >names
		[ -s names ]
		each_in_bash "$tool" <names >missing
		diff missing /dev/null
	done
}

@test "fish completes options, formats, types, kinds and files" {
	command -v fish >/dev/null || skip "no fish"
	mkdir fish
	for tool in telcat telreplay telstat telrec; do
		ln -s "$SHARE/teltools.fish" "fish/$tool.fish"
	done
	[ "$(in_fish 'telcat --form')" = --format ]
	in_fish 'telcat -f c' | sort | tr '\n' ' ' | grep -x 'chrome csv '
	for tool in telcat telstat; do
		fish_lines "$tool -f " >formats
		[ "$(wc -l <formats)" -ge 9 ]
		# each says what it is, and no two the same
		run ! grep -v "$(printf '\t')." formats
		[ -z "$(cut -f 2 formats | sort | uniq -d)" ]
	done
	[ "$(in_fish 'telreplay -a jem')" = jemalloc ]
	[ "$(in_fish 'telreplay -a glibc,mi')" = glibc,mimalloc ]
	[ "$(in_fish 'telcat --color=al')" = --color=always ]
	[ "$(in_fish 'telreplay --order to')" = total ]
	[ "$(in_fish 'telcat mpsio.log -k Po')" = Pool ]
	[ "$(in_fish 'telcat mpsio.log -k Arena,Po')" = Arena,Pool ]
	in_fish 'telcat mpsio.log --events PoolInit' | grep -qx PoolInitMVFF
	in_fish 'telcat -S mps' | grep -qx mpsio.log
	[ "$(in_fish 'telcat --as j' 2>&1)" = jfr ]
	[ "$(in_fish 'telrec --times ex')" = exact ]
	[ "$(in_fish 'telrec -a ./mps')" = ./mpsio.log ]
}

@test "zsh completes options, formats, types, kinds and files" {
	command -v zsh >/dev/null || skip "no zsh"
	needs_terminal
	mkdir zsh
	ln -s "$SHARE/teltools.zsh" zsh/_teltools
	in_zsh 'telcat -f c' | grep '^chrome *csv'
	in_zsh 'telcat --form' | grep -e '^--format'
	in_zsh 'telcat mpsio.log -k Po' | grep '^Pool'
	in_zsh 'telcat mpsio.log -k Arena,Po' | grep '^Pool'
	in_zsh 'telcat mpsio.log -e PoolInit' | grep PoolInitMVFF
	in_zsh 'telreplay --order t' | grep '^total'
	in_zsh 'telreplay -a glibc,t' | grep '^tcmalloc'
	in_zsh 'telcat -z 3 mps' | grep '^mpsio.log'
	in_zsh 'telrec -a mps' | grep '^mpsio.log'
	in_zsh 'telrec --times=e' | grep '^exact'
}
