#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Installs what is missing of packages of npm, which no Debian package has:
#
#	tests/npm.sh FOLDER NAME@VERSION ...

set -eu

if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
	echo "npm.sh: npm and node are needed" >&2
	exit 1
fi
mkdir -p "$1"
cd "$1"
shift
for package; do
	if ! grep -qs "\"version\": \"${package##*@}\"" \
	    "node_modules/${package%@*}/package.json"; then
		npm install --silent --no-audit --no-fund --save-exact "$@"
		exit
	fi
done
