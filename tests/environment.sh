# shellcheck shell=sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What every test sees, for a shell that has TEL_TOP, the folder with the
# Makefile, and TEL_BUILD: TEL_STAGE, an installation of the build; TEST_LOGS,
# where sanitizers and valgrind report; TEST_OUTPUT, what the tests print; the
# commands first on PATH.

TEL_STAGE=$TEL_BUILD/stage
TEST_LOGS=$TEL_BUILD/logs
TEST_OUTPUT=$TEL_BUILD/output
# Debian's Python starts in 10 ms; one of a version manager, found before it, in 90.
mkdir -p "$TEL_BUILD/python"
[ ! -x /usr/bin/python3 ] || ln -sf /usr/bin/python3 "$TEL_BUILD/python"
PYTHONPYCACHEPREFIX=$TEL_BUILD/python/cache
PATH=$TEL_BUILD/bin:$TEL_BUILD/python:$PATH
# A sanitizer's report must not pass for the failure that a test expects, nor
# get lost with the standard error of a command that may fail.
options=exitcode=99:log_path=$TEST_LOGS/san
ASAN_OPTIONS=$options:allocator_may_return_null=1
UBSAN_OPTIONS=$options:print_stacktrace=1
TSAN_OPTIONS=$options
LC_ALL=C.UTF-8
TZ=UTC
export TEL_TOP TEL_BUILD TEL_STAGE TEST_LOGS TEST_OUTPUT PATH LC_ALL TZ
export PYTHONPYCACHEPREFIX
export ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS
unset PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED
unset NO_COLOR TELTOOLS_CONFIG TELTOOLS_PAGER MAKEFLAGS MFLAGS MAKELEVEL
mkdir -p "$TEST_LOGS" "$TEST_OUTPUT"
