#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What the event of bench_emit.c costs with LTTng-UST, as a row of its table;
# nothing where there is no LTTng-UST.
#
#	tests/bench/lttng.sh FOLDER

set -eu

folder=$(cd "$1" && pwd)
home=$folder/lttng
"${PKG_CONFIG:-pkg-config}" --exists lttng-ust || exit 0
command -v lttng-sessiond >/dev/null || exit 0

rm -rf "$home"
mkdir "$home"
${CC:-cc} -O2 -I tests/bench -o "$home/bench" tests/bench/lttng.c \
    -llttng-ust -ldl
export LTTNG_HOME="$home"
lttng-sessiond -b --no-kernel >"$home/log" 2>&1 </dev/null || exit 0
{
	lttng create bench -o "$home/trace"
	lttng enable-channel -u c --num-subbuf 8 --subbuf-size 1M
	lttng enable-event -u -c c 'bench:*'
	lttng start
} >>"$home/log" 2>&1 || exit 0
"$home/bench" 'LTTng-UST, on'
lttng destroy >>"$home/log" 2>&1
pid=$(cat /var/run/lttng/lttng-sessiond.pid 2>/dev/null ||
    cat "$home/.lttng/lttng-sessiond.pid")
kill "$pid"
rm -rf "$home"
