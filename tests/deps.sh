#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Installs what is missing of what the purposes named need, and says so:
#
#	tests/deps.sh [-n] PURPOSE ...
#
# The purposes are build, demo, check, cluster, lint, clang, m32, musl, page,
# valgrind, fuzz, deb, abi, bench and bench-peers.
#
# With -n nothing is installed: what is missing is named, and status is 1.

set -eu

PKG_CONFIG=${PKG_CONFIG:-pkg-config}

# A line for each need: purpose, how to look for it, what to look for, and
# the Debian package that has it.
needs='
build    command  cc              gcc
build    header   stdio.h         libc6-dev
build    command  pkg-config      pkg-config
build    library  libarchive      libarchive-dev
build    header   bzlib.h         libbz2-dev
build    library  liblz4          liblz4-dev
build    library  liblzma         liblzma-dev
build    library  libzstd         libzstd-dev
build    library  sqlite3         libsqlite3-dev
build    library  zlib            zlib1g-dev
demo     command  sqlite3         sqlite3
check    command  prove           perl
check    command  bats            bats
check    command  pkg-config      pkg-config
check    command  g++             g++
check    command  mandoc          mandoc
check    command  python3         python3
check    command  file            file
check    command  jq              jq
check    command  sqlite3         sqlite3
check    command  zstd            zstd
check    command  lz4             lz4
check    command  bzip2           bzip2
check    command  xz              xz-utils
check    command  zip             zip
check    command  7z              p7zip-full
check    command  cpio            cpio
check    command  mtrace          libc-devtools
check    command  parallel        parallel
check    command  zsh             zsh
check    command  babeltrace2     babeltrace2
check    command  fish            fish
check    shared   libdw.so.1                 libdw1
check    shared   libunwind.so.8             libunwind8
check    shared   libjemalloc.so.2           libjemalloc2
check    shared   libmimalloc.so.2.0         libmimalloc2.0
check    shared   libtcmalloc_minimal.so.4   libtcmalloc-minimal4
check    shared   libtbbmalloc_proxy.so.2    libtbbmalloc2
cluster  command  ssh             openssh-client
cluster  command  sshd            openssh-server
cluster  command  slurmctld       slurm-wlm
cluster  command  munged          munge
cluster  module   distributed     python3-distributed
cluster  command  promtool        prometheus
cluster  command  prometheus-node-exporter  prometheus-node-exporter
clang    command  clang           clang
m32      multilib -m32            gcc-multilib
m32      multilib -m32            g++-multilib
musl     command  musl-gcc        musl-tools
lint     command  clang           clang
lint     command  clang-format    clang-format
lint     command  mandoc          mandoc
lint     command  shellcheck      shellcheck
lint     command  python3         python3
page     command  chromium        chromium
page     command  python3         python3
page     command  zstd            zstd
page     command  npm             npm
page     command  protoc          protobuf-compiler
valgrind command  valgrind        valgrind
fuzz     command  clang           clang
fuzz     fuzzer   clang           libclang-rt-14-dev
deb      command  dh              debhelper
deb      command  lintian         lintian
deb      command  dh_python3      dh-python
deb      command  pkg-config      pkg-config
abi      command  abidiff         abigail-tools
bench    command  python3         python3
bench    command  zstd            zstd
bench    library  lttng-ust       liblttng-ust-dev
bench-peers command python3       python3
bench-peers command babeltrace2   babeltrace2
bench-peers command jq            jq
bench-peers command mlr           miller
bench-peers command mawk          mawk
bench-peers command sqlite3       sqlite3
bench    command  lttng-sessiond  lttng-tools
'

has() {
	case $1 in
	command)
		test "$2" = pkg-config && set -- "$1" "$PKG_CONFIG"
		# daemons are on the PATH of root only
		PATH=$PATH:/usr/sbin:/sbin command -v "$2" >/dev/null
		;;
	module)
		test -d "/usr/lib/python3/dist-packages/$2"
		;;
	header)
		test -f "/usr/include/$2"
		;;
	library)
		"$PKG_CONFIG" --exists "$2" 2>/dev/null
		;;
	shared)
		test -n "$(find /lib /usr/lib /usr/local/lib \
		    -name "$2" 2>/dev/null | head -n 1)"
		;;
	multilib)
		echo '#include <string>' | g++ -x c++ "$2" -fsyntax-only - \
		    2>/dev/null
		;;
	fuzzer)
		test -n "$(find /usr/lib/clang /usr/lib/llvm-* \
		    -name 'libclang_rt.fuzzer*.a' 2>/dev/null)"
		;;
	esac
}

install=yes
if [ "${1-}" = -n ]; then
	install=no
	shift
fi

missing=
packages=
while read -r purpose how what package; do
	case " $* " in *" $purpose "*) ;; *) continue ;; esac
	case " $packages " in *" $package "*) continue ;; esac
	if ! has "$how" "$what"; then
		missing="$missing $what"
		packages="$packages $package"
	fi
done <<END
$needs
END
packages=${packages# }

if [ -z "$packages" ]; then
	exit 0
fi
echo "teltools: missing:$missing (Debian: $packages)" >&2
if [ $install = no ]; then
	echo "teltools: \"make demo\" and \"make check\" install what they" \
	    "need" >&2
	exit 1
fi
if ! command -v apt-get >/dev/null; then
	echo "teltools: there is no apt-get here: install them by hand" >&2
	exit 1
fi
sudo=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "teltools: neither root nor sudo: run as root:" \
		    "apt-get install $packages" >&2
		exit 1
	fi
	sudo=sudo
fi

run() {
	echo "+ $*" >&2
	"$@" </dev/null
}

run $sudo apt-get update -q
# shellcheck disable=SC2086 # the list is to be split
run $sudo env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends $packages
