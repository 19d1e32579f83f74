#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/lint.py finds what cannot fail, and nothing else; "make lint" runs it on all files.

load lib

# lint: the complaints about the body of a test on standard input.
lint() {
	{
		echo '@test "x" {'
		cat
		echo '}'
	} >"$BATS_TEST_TMPDIR/x.bats"
	python3 "$TEL_TOP/tests/lint.py" "$BATS_TEST_TMPDIR/x.bats"
}

# each WORDS: each line of standard input is complained of, with these words.
each() {
	local line count=0
	while IFS= read -r line; do
		echo "$line"
		run -1 lint <<<"$line"
		[ "${#lines[@]}" -eq 1 ]
		[[ $output == *"$1"* ]]
		count=$((count + 1))
	done
	[ "$count" -gt 0 ]
}

@test "a negation that fails no test is found" {
	each "use 'run !'" <<-'END'
		! cmp -s a b
		true; ! cmp -s a b
		for x in a; do ! cmp -s a "$x"; done
		case x in x) ! cmp -s a b ;; esac
		if x; then ! cmp -s a b; fi
		{ ! cmp -s a b; }
		x || ! cmp -s a b
		x | ! grep -q y
	END
}

@test "a list of commands that fails no test is found" {
	each "write two lines" <<-'END'
		telcat x && [ -s out ]
		case x in x) telcat x && [ -s out ] ;; esac
		for x in a; do [ -s a ] && [ -s b ]; done
		grep x y && false
	END
}

@test "a status that nothing looks at is found" {
	each "nothing looks at the status" <<-'END'
		run telcat x
		for x in a; do run grep x y; done
		timeout 9 telcat x | cmp - y
		env A=b telfilter x >y
		cmp x <(command telstat x)
		x=$(script -qec "telcat x" /dev/null | tr -d a)
		xargs telreplay --dry-run
	END
}

@test "what can fail is not complained of" {
	run -0 lint <<-'END'
		run ! cmp -s a b
		run -3 --separate-stderr telcat "x ! y && z"
		if ! cmp -s a b; then x; fi
		while ! has_lines 3 x; do sleep 1; done
		[ ! -s x ]
		[[ a == b && ! -s x ]]
		find . ! -type d
		# ! cmp a b
		telcat -w 'a && ! b' x | grep '! x && y'
		awk '! /x/ &&
			! /y/' z
		x=$((a && ! b))
		[ -s x ] && break
		slow && step=3
		[ -s a ] && [ -s b ] || false
		if [ -s a ] && ! [ -s b ]; then x; fi
		(cd x && ls) >y
		y=$(cd x && ls)
		run telcat x
		[ "$status" -eq 3 ]
		run -2 timeout 3 telcat x
		cat <<-'TEXT' >x
			! cmp a b
			a && b
		TEXT
		x=${y#! }
		[ "$#" -eq 1 ] || exit
		echo "$(telcat x) \" ! x" '!' \! "!"
	END
	[ -z "$output" ]
}

# page NAME: the complaints about a file of a page on standard input.
page() {
	cat >"$BATS_TEST_TMPDIR/$1"
	python3 "$TEL_TOP/tests/lint.py" "$BATS_TEST_TMPDIR/$1"
}

@test "what makes markup or programs of text is found in scripts of pages" {
	local line
	while IFS= read -r line; do
		echo "$line"
		run -1 page x.js <<-END
			// SPDX-License-Identifier: BSD-2-Clause
			$line
		END
		[ "${#lines[@]}" -eq 1 ]
		[[ $output == *"x.js:2: text of a log"* ]]
	done <<-'END'
		e.innerHTML = text;
		e.insertAdjacentHTML("beforeend", text);
		document.write(text);
		eval (text);
		f = new Function(text);
		import(text);
	END
}

@test "the layout of scripts of pages is checked" {
	run -1 page x.js <<<'// no licence'
	run -1 page x.css < <(printf '/* SPDX-License-Identifier: X */\na \n')
	run -1 page x.js < <(printf '// SPDX-License-Identifier: X\n%081d' 0)
}
