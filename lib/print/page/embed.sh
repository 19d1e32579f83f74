#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Writes the parts of a page as C, and its content policy:
#
#	embed.sh SHELL STYLE SCRIPT ...
#
# Several files of script become one.  The policy has the digests of exactly
# the bytes between the tags.

set -eu
export LC_ALL=C

shell=$1
style=$2
shift 2
test $# -gt 0

array() { # NAME FILE ...
	name=$1
	shift
	printf 'static const unsigned char %s_bytes[] = {\n' "$name"
	cat "$@" | od -An -v -tu1 | sed 's/\([0-9][0-9]*\)/\1,/g'
	printf '};\nconst struct page_part tel__page_%s = { %s_bytes,\n' \
	    "$name" "$name"
	printf '\tsizeof(%s_bytes) };\n' "$name"
}

digest() { # FILE ...: its SHA-256 in base64
	cat "$@" | sha256sum | awk '{
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

script_digest=$(digest "$@")
style_digest=$(digest "$style")
test "${#script_digest}" = 44
test "${#style_digest}" = 44

cat <<END
/* SPDX-License-Identifier: BSD-2-Clause */
/* Made by lib/print/page/embed.sh: the parts of a page. */
#include "print/page.h"

const char tel__page_policy[] =
    "default-src 'none'; "
    "script-src 'sha256-$script_digest'; "
    "style-src 'sha256-$style_digest'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'";
END
array shell "$shell"
array style "$style"
array script "$@"
