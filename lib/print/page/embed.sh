#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Writes the parts of a page as C, and its content policy:
#
#	embed.sh SHELL STYLE TIMELINE REPORT
#
# The last two are the scripts of a page of a log, and of a report.  The
# policies have the digests of exactly the bytes between the tags.

set -eu
export LC_ALL=C

shell=$1
style=$2
timeline=$3
report=$4

array() { # NAME FILE
	printf 'static const unsigned char %s_bytes[] = {\n' "$1"
	od -An -v -tu1 "$2" | sed 's/\([0-9][0-9]*\)/\1,/g'
	printf '};\n'
}

part() { # NAME FILE
	array "$@"
	printf 'const struct page_part tel__page_%s = { %s_bytes,\n' "$1" "$1"
	printf '\tsizeof(%s_bytes) };\n' "$1"
}

digest() { # FILE: its SHA-256 in base64
	sha256sum <"$1" | awk '{
		digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" \
		    "abcdefghijklmnopqrstuvwxyz0123456789+/"
		hex = substr($1, 1, 64) "00"
		for (i = 1; i < 66; i += 3) {
			v = 0
			for (j = 0; j < 3; j++)
				v = v * 16 + index("0123456789abcdef",
				    substr(hex, i + j, 1)) - 1
			out = out substr(digits, int(v / 64) + 1, 1) \
			    substr(digits, v % 64 + 1, 1)
		}
		print substr(out, 1, 43) "="
	}'
}

style_digest=$(digest "$style")
test "${#style_digest}" = 44

kind() { # NAME SCRIPT
	kind=$1
	script_digest=$(digest "$2")
	test "${#script_digest}" = 44
	array "$@"
	cat <<END
const struct page_kind tel__page_$kind = {
	{ ${kind}_bytes, sizeof(${kind}_bytes) },
	"default-src 'none'; "
	"script-src 'sha256-$script_digest'; "
	"style-src 'sha256-$style_digest'; "
	"img-src data: blob:; base-uri 'none'; form-action 'none'"
};
END
}

cat <<END
/* SPDX-License-Identifier: BSD-2-Clause */
/* Made by lib/print/page/embed.sh: the parts of a page. */
#include "print/page.h"

END
part shell "$shell"
part style "$style"
kind timeline "$timeline"
kind report "$report"
