#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telrec and programs of all kinds: C++, compilers, sandboxes, other preloaded
# libraries.

# The commands of sh are to be expanded by sh.
# shellcheck disable=SC2016

load lib

# A preloaded library and a sanitizer both want to be first.
setup_file() {
	case ${CFLAGS-} in *-fsanitize*) return ;; esac
	${CC:-cc} -std=gnu11 -O1 -fno-builtin -pthread \
	    -o "$BATS_FILE_TMPDIR/program" "$TEL_TOP/tests/cli/telrec_program.c"
}

setup() {
	case ${CFLAGS-} in *-fsanitize*) skip "the sanitizer has malloc" ;; esac
	[ -z "${TEST_VALGRIND-}" ] || skip "valgrind has malloc"
	cd "$BATS_TEST_TMPDIR" || exit
	program=$BATS_FILE_TMPDIR/program
}

# counts FILE CONDITION: how many events there are.
counts() {
	telcat -w "$2" "$1" | grep -vc '^#'
}

@test "operators of C++ arrive once each" {
	cat >operators.cc <<-'END'
		#include <cstddef>
		#include <new>
		struct alignas(256) Large { char bytes[71680]; };
		static void *volatile kept;
		int main() {
			int *volatile one;
			for (std::size_t i = 0; i < 3; i++) {
				char *p = new char[70101 + i];
				kept = p;
				delete[] p;
			}
			kept = ::operator new(70201);
			::operator delete(kept, 70201);
			kept = ::operator new(70202, std::nothrow);
			::operator delete(kept, std::nothrow);
			kept = ::operator new[](70203);
			::operator delete[](kept);
			Large *large = new Large;
			kept = large;
			delete large;
			one = new int(1);
			delete one;
			return 0;
		}
	END
	${CXX:-c++} -std=c++17 -O0 -o operators operators.cc 2>/dev/null ||
	    skip "no compiler of C++17"
	telrec -o run.tel ./operators
	for size in 70101 70102 70103 70201 70202 70203 71680; do
		telcat -w "size == $size" run.tel | grep -v '^#' >event
		[ "$(wc -l <event)" = 1 ]
		address=$(sed 's/.* address=\(0x[0-9A-Fa-f]*\).*/\1/' event)
		clock=$(cut -c1-16 event)
		# one free ends it
		telcat -e free -w "address == $address" run.tel |
		    grep -v '^#' | awk -v c="$clock" '$1 >= c' | head -1 |
		    grep -q free
	done
	telcat run.tel | python3 "$TEL_TOP/tests/cli/telrec.py" order
}

@test "telrec gcc x.c records cc1" {
	if [ "$(od -An -tu1 -j4 -N1 "$TEL_BUILD/libtelrec.so")" -ne 2 ]; then
		skip "libtelrec.so is of 32 bits, the compiler may be of 64"
	fi
	command -v gcc >/dev/null || skip "no gcc"
	echo 'int main(void) { return 0; }' >x.c
	telrec -o run.tel gcc -c x.c
	[ -s x.o ]
	telcat -k Alloc run.tel >events
	grep -q '\["gcc' events || skip "gcc has another name"
	[ "$(grep -c 'pid=[0-9]*\["cc1"\]' events)" -gt 1000 ]
	telcat run.tel | python3 "$TEL_TOP/tests/cli/telrec.py" order
}

@test "the user's preloaded library is kept, and what it allocates recorded" {
	# it looks for functions as such libraries do, which allocates
	cat >own.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stdlib.h>
		#include <unistd.h>
		static unsigned long calls;
		void *malloc(size_t n)
		{
			static void *(*next)(size_t);
			if (next == NULL) {
				*(void **)&next = dlsym(RTLD_NEXT, "malloc");
				(void)dlsym(RTLD_NEXT, "no_such_function");
			}
			calls++;
			return next(n);
		}
		__attribute__((destructor)) static void
		end(void)
		{
			if (getenv("OWN") != NULL && calls >= 50)
				(void)!write(2, "own malloc\n", 11);
		}
	END
	cc=${CC:-cc}
	$cc -shared -fPIC -o own.so own.c -ldl
	run -0 --separate-stderr env OWN=1 LD_PRELOAD="$PWD/own.so" \
	    "$TEL_BUILD/bin/telrec" -o run.tel "$program" pairs 50
	# shellcheck disable=SC2154 # bats sets it
	[[ $stderr == *"own malloc"* ]]
	[ "$(counts run.tel 'size == 100')" = 50 ]
	telcat run.tel | python3 "$TEL_TOP/tests/cli/telrec.py" order
}

@test "signal handlers that allocate at any time" {
	# an allocator that may be interrupted anywhere
	cat >bump.c <<-'END'
		#include <stddef.h>
		#include <string.h>
		#include <sys/mman.h>
		#define ROOM ((size_t)1 << 30)
		static char *memory;
		static size_t used;
		void *malloc(size_t n)
		{
			size_t at = __atomic_fetch_add(&used,
			    ((n + 31) & ~(size_t)15), __ATOMIC_SEQ_CST) % (ROOM / 2);
			if (memory == NULL)
				memory = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				    -1, 0);
			memcpy(memory + at, &n, sizeof(n));
			return memory + at + 16;
		}
		void free(void *p) { (void)p; }
		void *calloc(size_t k, size_t n)
		{
			return memset(malloc(k * n), 0, k * n);
		}
		void *realloc(void *p, size_t n)
		{
			void *q = malloc(n);
			size_t was;
			if (p == NULL)
				return q;
			memcpy(&was, (char *)p - 16, sizeof(was));
			return memcpy(q, p, was < n ? was : n);
		}
	END
	cc=${CC:-cc}
	$cc -O1 -fno-builtin -shared -fPIC -o bump.so bump.c
	telrec -a "$PWD/bump.so" -o run.tel "$program" ticks >handled
	[ "$(telcat -e calloc -w 'size == 77' run.tel | grep -vc '^#')" = \
	    "$(cat handled)" ]
	telcat -w 'address > 0' run.tel | grep -c ' free ' >/dev/null
	telstat run.tel >report
	grep -q 'lost 0' report
	run ! grep '^unknown' report
}

@test "a sandbox by a filter of system calls" {
	run telrec -o run.tel "$program" filter
	[ "$status" != 77 ] || skip "no seccomp here"
	[ "$status" = 0 ]
	[ "$(counts run.tel 'size == 60')" = 100000 ]
}

@test "--for ends the recording, and not the program" {
	# it ends when the log no longer grows while programs run
	telrec --for 100ms -o run.tel sh -c '
		until [ -s run.tel ]; do
			"$1" pairs 10
			n=$((n + 1))
			[ $n -lt 1000 ] || exit 8
			sleep 0.05
		done
		n=0
		until [ "$before" = "$(wc -c <run.tel)" ]; do
			before=$(wc -c <run.tel)
			"$1" pairs 5000
			n=$((n + 1))
			[ $n -lt 100 ] || exit 9
			sleep 0.7
		done' sh "$program"
	[ "$(counts run.tel 'size == 100')" -ge 10 ]
}
