#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Builds the Debian packages of HEAD twice, under two names, and checks that
# they are the same and that lintian has nothing to say of them:
#
#	tests/deb.sh FOLDER

set -eu

cd "$(dirname "$0")/.."
top=$PWD
folder=$1
rm -rf "$folder"
mkdir -p "$folder/a/teltools" "$folder/another/place"
folder=$(cd "$folder" && pwd)

# build SOURCE OPTIONS: the packages are in the folder above the source.
build() {
	git -C "$top" archive HEAD | tar -x -C "$1"
	(
		cd "$1"
		unset MAKEFLAGS MFLAGS MAKELEVEL
		DEB_BUILD_OPTIONS="$2" dpkg-buildpackage -b -us -uc -d \
		    >../build.log 2>&1
	) || {
		tail -n 40 "$1/../build.log" >&2
		exit 1
	}
}

build "$folder/a/teltools" "parallel=$(nproc)"
build "$folder/another/place" "nocheck parallel=$(nproc)"
for package in "$folder"/a/*.deb; do
	cmp "$package" "$folder/another/${package##*/}"
done
# a bug that asks for the package exists in Debian alone
lintian --fail-on error,warning \
    --suppress-tags initial-upload-closes-no-bugs "$folder"/a/*.changes
echo "tests/deb.sh: $(find "$folder/a" -name '*.deb' | wc -l) packages," \
    "the same from two places"
