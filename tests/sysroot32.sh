#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Puts the 32-bit libraries that a build for i386 needs into a folder, where
# they do not conflict with those of the machine:
#
#	tests/sysroot32.sh FOLDER
#
# apt-get fetches Debian's packages with lists and a cache of its own in that
# folder, as any user; nothing is installed.  FOLDER/cc and FOLDER/c++ are
# compilers for i386 that find these libraries.  They use SSE2 for doubles, as
# the results of the x87, with more bits, differ in the last digit.

set -eu

packages='libarchive-dev libbz2-dev liblz4-dev liblzma-dev libzstd-dev
    libsqlite3-dev zlib1g-dev libjemalloc2 libmimalloc2.0 libtcmalloc-minimal4'

mkdir -p "$1"
root=$(cd "$1" && pwd)
if [ -e "$root/.done" ]; then
	exit 0
fi
apt=$root/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
: >"$apt/status"

get() {
	apt-get -q -y -o APT::Architecture=i386 -o APT::Architectures::=i386 \
	    -o APT::Install-Recommends=false -o Debug::NoLocking=1 \
	    -o Dir::State="$apt" -o Dir::State::lists="$apt/lists" \
	    -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" \
	    "$@" </dev/null
}

# One of several sources that fails may not be needed.
get update || :
# shellcheck disable=SC2086 # the list is to be split
get install --download-only $packages
for package in "$apt/cache/archives"/*.deb; do
	# libc, and what belongs to the compiler, come with the compiler
	case ${package##*/} in
	libc6_* | libc6-dev_* | linux-libc-dev_* | gcc-* | libgcc-* | \
		libstdc++*) continue ;;
	esac
	dpkg -x "$package" "$root"
done
compiler() {
	libs="$root/usr/lib/i386-linux-gnu"
	cat >"$root/$1" <<-END
		#!/bin/sh
		exec $2 -m32 -msse2 -mfpmath=sse "\$@" -L'$libs' \\
		    -Wl,-rpath-link,'$libs:$root/lib/i386-linux-gnu'
	END
	chmod +x "$root/$1"
}
compiler cc gcc
compiler c++ g++
touch "$root/.done"
