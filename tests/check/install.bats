#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What "make install" put into the stage, and whether a program can use it.

load lib

setup() {
	log=$TEL_TOP/tests/data/mps/1.118.0-lii6gc-poolncv.log.zst
	export PKG_CONFIG_PATH=$TEL_STAGE$LIBDIR/pkgconfig
	# shellcheck disable=SC2153 # tests/suite.sh has it from the Makefile
	read -ra cflags <<<"$CFLAGS $LDFLAGS -Werror"
	# the stage is not where the installation says that it is
	read -ra flags <<<"$($PKG_CONFIG --define-variable=prefix="$TEL_STAGE$PREFIX" --cflags libtel)"
	read -ra shared <<<"$($PKG_CONFIG --define-variable=prefix="$TEL_STAGE$PREFIX" --libs libtel)"
	read -ra below <<<"$($PKG_CONFIG --libs libzstd)"
	consumer=$BATS_TEST_TMPDIR/consumer
}

# Reads a shipped log with the consumer, zstd and all.
use_consumer() {
	run -0 --separate-stderr "$@" "$consumer" "$log"
	[[ $output =~ ^mps-1\.118\.0/lii6gc:\ [1-9][0-9]*\ events$ ]]
	[ -z "$stderr" ]
}

@test "fish looks for completions where they are installed" {
	command -v fish >/dev/null || skip "no fish"
	case $PREFIX in /usr | /usr/local) ;; *) skip "another prefix" ;; esac
	# shellcheck disable=SC2016 # for fish
	env -u XDG_DATA_DIRS HOME="$BATS_TEST_TMPDIR" fish -c \
	    'string join \n $fish_complete_path' | grep -qxF "$FISHDIR"
}

@test "the stage holds the commands, the library and the manual" {
	{
		tools | sed "s|^|$BINDIR/|"
		for header in "$TEL_TOP"/include/*.h "$TEL_TOP"/include/tel/*.h; do
			echo "$PREFIX/include/${header#"$TEL_TOP/include/"}"
		done
		for lib in libtel libtel-emit; do
			echo "$LIBDIR/$lib.a"
			echo "$LIBDIR/$lib.so"
			echo "$LIBDIR/$lib.so.0"
			echo "$LIBDIR/$lib.so.$VERSION"
			echo "$LIBDIR/pkgconfig/$lib.pc"
		done
		echo "$LIBDIR/teltools/libtelrec.so"
		for page in "$TEL_TOP"/man/*.[1-8]; do
			echo "$MANDIR/man${page##*.}/${page##*/}"
		done
		for file in schemas.tel.gz tel.magic tel.xml; do
			echo "$PREFIX/share/teltools/$file"
		done
		for tool in $(tools); do
			echo "$PREFIX/share/bash-completion/completions/$tool"
			echo "$FISHDIR/$tool.fish"
		done
		echo "$PREFIX/share/zsh/site-functions/_teltools"
		for file in teltools.py \
		    teltools-"$VERSION".dist-info/{INSTALLER,METADATA,top_level.txt}; do
			echo "$PREFIX/lib/python3/dist-packages/$file"
		done
	} | sort >"$BATS_TEST_TMPDIR/want"
	(cd "$TEL_STAGE" && find . ! -type d ! -name .done) |
	    sed 's/^\.//' | sort >"$BATS_TEST_TMPDIR/got"
	diff -u "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
}

@test "uninstalling leaves no file behind" {
	run -0 find "$TEL_BUILD/unstage" ! -type d
	[ -z "$output" ]
}

@test "the version is that of tel.h everywhere" {
	[ "$($PKG_CONFIG --modversion libtel)" = "$VERSION" ]
	grep -q "^#define TEL_VERSION \"$VERSION\"$" \
	    "$TEL_STAGE$PREFIX/include/tel/base.h"
	for tool in $(tools); do
		run -0 "$tool" --version
		[[ "${lines[0]}" == *" $VERSION" ]]
	done
}

@test "pkg-config asks for nothing but libtel to link with libtel.so" {
	[ "$($PKG_CONFIG --libs-only-l libtel | tr -d ' ')" = -ltel ]
}

@test "a program in C, with libtel.so" {
	$CC "${cflags[@]}" -std=c99 -pedantic "${flags[@]}" -o "$consumer" \
	    "$TEL_TOP/tests/consumer/consumer.c" "${shared[@]}"
	use_consumer env LD_LIBRARY_PATH="$TEL_STAGE$LIBDIR:${LD_LIBRARY_PATH-}"
}

@test "a program in C, with libtel.a" {
	$CC "${cflags[@]}" -std=c11 "${flags[@]}" -pthread -o "$consumer" \
	    "$TEL_TOP/tests/consumer/consumer.c" \
	    "$TEL_STAGE$LIBDIR/libtel.a" "${below[@]}"
	use_consumer
}

@test "a program in C++, with libtel.so" {
	$CXX "${cflags[@]}" -std=c++11 "${flags[@]}" -o "$consumer" \
	    -x c++ "$TEL_TOP/tests/consumer/consumer.c" -x none "${shared[@]}"
	use_consumer env LD_LIBRARY_PATH="$TEL_STAGE$LIBDIR:${LD_LIBRARY_PATH-}"
}

@test "a program that emits, in C and C++, with libtel-emit.so and .a" {
	local config=(--define-variable=prefix="$TEL_STAGE$PREFIX")
	read -ra emit <<<"$($PKG_CONFIG "${config[@]}" --cflags libtel-emit)"
	read -ra emit_so <<<"$($PKG_CONFIG "${config[@]}" --libs libtel-emit)"
	source=$TEL_TOP/tests/consumer/emitter.c
	strict=(-Wall -Wextra -Wshadow -Wconversion -Wcast-qual -Wundef)
	$CC "${cflags[@]}" "${strict[@]}" -std=c11 "${emit[@]}" \
	    -o "$consumer" "$source" "${emit_so[@]}"
	LD_LIBRARY_PATH=$TEL_STAGE$LIBDIR "$consumer" \
	    "$BATS_TEST_TMPDIR/so.tel"
	$CC "${cflags[@]}" "${strict[@]}" -std=c11 -fno-pie -no-pie \
	    "${emit[@]}" -o "$consumer" "$source" "${emit_so[@]}"
	LD_LIBRARY_PATH=$TEL_STAGE$LIBDIR "$consumer" \
	    "$BATS_TEST_TMPDIR/nopie.tel" "$BATS_TEST_TMPDIR/nopie.ring"
	$CC "${cflags[@]}" "${strict[@]}" -std=c11 -DTEL_EMIT_HOT \
	    "${emit[@]}" -pthread -o "$consumer" "$source" \
	    "$TEL_STAGE$LIBDIR/libtel-emit.a"
	"$consumer" "$BATS_TEST_TMPDIR/hot.tel"
	$CXX "${cflags[@]}" "${strict[@]}" -std=c++11 "${emit[@]}" \
	    -o "$consumer" -x c++ "$source" -x none "${emit_so[@]}"
	LD_LIBRARY_PATH=$TEL_STAGE$LIBDIR "$consumer" \
	    "$BATS_TEST_TMPDIR/cxx.tel"
	for log in so nopie cxx; do
		run -0 telcat -e Hello,Detail "$BATS_TEST_TMPDIR/$log.tel"
		[[ $output == *"Hello who=7 text=\"world\""* ]]
		[[ $output == *"Detail n=8"* ]]
	done
	# the hot variety leaves out what is not always there
	run -0 telcat -e Hello,Detail "$BATS_TEST_TMPDIR/hot.tel"
	[[ $output == *"Hello who=7"* ]]
	[[ $output != *"Detail n="* ]]
}

@test "lists with mistakes do not compile" {
	read -ra emit <<<"$($PKG_CONFIG \
	    --define-variable=prefix="$TEL_STAGE$PREFIX" --cflags libtel-emit)"
	# shellcheck disable=SC2120 # arguments come through run
	compile() {
		$CC -std=c11 -Werror "${emit[@]}" "$@" -fsyntax-only \
		    "$TEL_TOP/tests/consumer/emitter.c"
	}
	compile
	for mistake in INDEX STRING CODE NUMBER COUNT TYPE KIND LETTER; do
		echo "$mistake"
		run ! compile "-DWRONG_$mistake"
		[[ $output == *error:* ]]
	done
}

@test "file(1) knows a stream by the magic that is installed" {
	magic=$TEL_STAGE$PREFIX/share/teltools/tel.magic
	telcat -q -f tel -o "$BATS_TEST_TMPDIR/log.tel" \
	    "$TEL_TOP/tests/data/mps/1.118.0-lii6gc-poolncv.log.zst"
	run -0 file -b -m "$magic" "$BATS_TEST_TMPDIR/log.tel"
	[ "$output" = "Telemetry log (teltools), version 1.1.3" ]
	run -0 file -b --mime-type -m "$magic" "$BATS_TEST_TMPDIR/log.tel"
	[ "$output" = application/x-tel ]
	telcat -q -f tel -z 3 -o "$BATS_TEST_TMPDIR/log.tel.zst" \
	    "$TEL_TOP/tests/data/mps/1.118.0-lii6gc-poolncv.log.zst"
	run -0 file -b -m "$magic" "$BATS_TEST_TMPDIR/log.tel.zst"
	[ "$output" = "Telemetry log (teltools), zstd-compressed" ]
	run -0 file -b --mime-type -m "$magic" "$BATS_TEST_TMPDIR/log.tel.zst"
	[ "$output" = application/x-tel+zstd ]
	zstd -dcq "$BATS_TEST_TMPDIR/log.tel.zst" |
	    cmp - "$BATS_TEST_TMPDIR/log.tel"
	# a mark alone, or of something else, says nothing
	zstd -q "$BATS_TEST_TMPDIR/log.tel" -o "$BATS_TEST_TMPDIR/plain.zst"
	run -0 file -b -m "$magic" "$BATS_TEST_TMPDIR/plain.zst"
	[[ $output != Telemetry* ]]
	head -c 20 "$BATS_TEST_TMPDIR/log.tel" >"$BATS_TEST_TMPDIR/cut"
	run -0 file -b -m "$magic" "$BATS_TEST_TMPDIR/cut"
	[[ $output != Telemetry* ]]
}

@test "Python knows the module that is installed, and its version" {
	export PYTHONPATH=$TEL_STAGE$PREFIX/lib/python3/dist-packages
	run -0 python3 -c \
	    'import importlib.metadata as m; print(m.version("teltools"))'
	[ "$output" = "$VERSION" ]
	run -0 python3 - "$PYTHONPATH" <<-'END'
		import importlib.metadata, sys
		found = importlib.metadata.distribution("teltools")
		assert found.metadata["Summary"], found.metadata
		assert found.metadata["License"] == "BSD-2-Clause"
		assert found.read_text("INSTALLER") == "make\n"
		assert found.read_text("top_level.txt") == "teltools\n"
		print("ok")
	END
	[ "$output" = ok ]
}
