#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telrec and the allocators of Debian: each records the same of the same
# program, and operators of C++ once each, whatever they call.

# "enter" sets program.
# shellcheck disable=SC2154

load telrec

setup_file() {
	build_program
	case ${CFLAGS-} in *-fsanitize*) return ;; esac
	[ -z "${TEST_VALGRIND-}" ] || return 0
	cd "$BATS_FILE_TMPDIR" || exit
	# what each allocator is to record
	telrec -o want.tel ./program some
	check_log want.tel calls 70707 >want
	[ "$(wc -l <want)" -gt 100 ]
	build_operators -o operators -ldl || return 0
	build_operators -DMODULE -shared -fPIC -o module.so || rm -f operators
}

build_operators() {
	${CXX:-c++} -std=c++17 -O0 -pthread \
	    "$TEL_TOP/tests/cli/telrec_operators.cc" "$@" 2>/dev/null
}

setup() {
	needs_preload
	enter
	operators=$BATS_FILE_TMPDIR/operators
	module=$BATS_FILE_TMPDIR/module.so
}

# record ARGUMENT ...: with the allocator.
record() {
	telrec "${options[@]}" -o run.tel "$@"
}

# check_allocator: what it records of programs in C, and in C++.
check_allocator() {
	local want=$BATS_FILE_TMPDIR/want
	record "$program" some
	check_log run.tel calls 70707 >got
	diff -u "$want" got
	record "$program" pairs 1000
	[ "$(counts run.tel 'size == 100')" = 1000 ]
	record "$program" threads 4 200
	ordered run.tel
	[ -x "$operators" ] || skip "no compiler of C++17"
	record "$operators" forms
	check_log run.tel operators forms
	record "$operators" threads
	check_log run.tel operators threads
	# a module that is loaded while the program runs
	record "$operators" load "$module"
	check_log run.tel operators forms threads
	record -s 4k "$operators" threads
	ordered run.tel
}

# fails_as_usual: where memory ends, operators throw.
fails_as_usual() {
	record "$operators" failures
	check_log run.tel operators forms
}

# under LIBRARY: check_allocator with it, if it is installed.
under() {
	options=(-a "$1")
	run telrec -a "$1" -o run.tel "$program" pairs 10
	[[ $output != *"no such library"* ]] || skip "$1 is not installed"
	[ "$status" = 0 ]
	check_allocator
}

@test "the C library's" {
	options=()
	check_allocator
	fails_as_usual
}

@test "jemalloc" {
	under jemalloc
	fails_as_usual
}

@test "mimalloc" {
	under mimalloc
}

@test "tcmalloc" {
	under tcmalloc
	fails_as_usual
}

@test "TBB's" {
	under libtbbmalloc_proxy.so.2
}

@test "Scudo" {
	command -v clang >/dev/null || skip "no clang"
	# it takes the stack of a call now and then, for which the loader allocates
	export SCUDO_OPTIONS=GWP_ASAN_Enabled=false
	under "$(clang -print-file-name="libclang_rt.scudo_standalone-$(uname -m).so")"
}

# The loader finds it after telrec's library, and before the C library.
@test "a program that is linked with another allocator" {
	linked=0
	for name in libtcmalloc_minimal.so.4 libjemalloc.so.2 libmimalloc.so.2.0; do
		build_linked "$name" 2>/dev/null || continue
		linked=$((linked + 1))
		telrec -o run.tel ./linked some
		check_log run.tel calls 70707 >got
		diff -u "$BATS_FILE_TMPDIR/want" got
		telrec -o run.tel ./linked threads 4 200
		ordered run.tel
	done
	[ "$linked" -gt 0 ] || skip "no other allocator is installed"
}

# build_linked LIBRARY: the program, linked with it.
build_linked() {
	${CC:-cc} -std=gnu11 -O1 -fno-builtin -pthread -I"$TEL_TOP/cmd" \
	    -o linked "$TEL_TOP/tests/cli/telrec_program.c" \
	    -Wl,--no-as-needed "-l:$1" -ldl || return
	ldd linked | grep -q "$1"
}

@test "operators of the program itself are called, and recorded once" {
	needs_jemalloc
	cat >library.cc <<-'END'
		int *volatile kept;
		void grab()
		{
			kept = new int[500];
			delete[] kept;
			kept = new int(1);
			delete kept;
		}
	END
	cat >own.cc <<-'END'
		#include <cstdio>
		#include <cstdlib>
		#include <new>
		void grab();
		extern int calls;
		int main()
		{
			grab();
			std::printf("%d\n", calls);
			return 0;
		}
	END
	cat >operators.cc <<-'END'
		#include <cstdlib>
		#include <new>
		int calls;
		void *operator new(size_t n)
		{
			calls++;
			return (char *)malloc(n + 7000) + 64;
		}
		void *operator new[](size_t n)
		{
			calls++;
			return (char *)malloc(n + 7000) + 64;
		}
		void operator delete(void *p) noexcept
		{
			calls++;
			free((char *)p - 64);
		}
		void operator delete(void *p, size_t) noexcept { operator delete(p); }
		void operator delete[](void *p) noexcept { operator delete(p); }
	END
	c=${CXX:-c++}
	# calls that the loader binds when they are made first
	$c -O0 -shared -fPIC -Wl,-z,lazy -fcf-protection=none -o library.so \
	    library.cc || skip "no compiler of C++"
	$c -O0 -o own own.cc operators.cc ./library.so
	# of an allocator, they call its malloc()
	cat >memory.c <<-'END'
		#include <stddef.h>
		#include <stdint.h>
		static char memory[1 << 22];
		static size_t used;
		void *malloc(size_t n)
		{
			return memory + __atomic_fetch_add(&used, (n + 31) & ~(size_t)15,
			    __ATOMIC_SEQ_CST);
		}
		void free(void *p) { (void)p; }
		void *calloc(size_t k, size_t n) { return malloc(k * n); }
		void *memalign(size_t a, size_t n)
		{
			return (void *)(((uintptr_t)malloc(n + a) + a - 1) / a * a);
		}
		void *realloc(void *p, size_t n)
		{
			char *q = malloc(n);
			for (size_t i = 0; p != 0 && i < n && (char *)p + i < q; i++)
				q[i] = ((char *)p)[i];
			return q;
		}
	END
	${CC:-cc} -O1 -fno-builtin -fPIC -c -o memory.o memory.c
	$c -O0 -shared -fPIC -o memory.so operators.cc memory.o
	echo 'int calls = 4;' >calls.cc
	$c -O0 -o plain own.cc calls.cc ./library.so
	for how in 'jemalloc ./own' './memory.so ./plain'; do
		# shellcheck disable=SC2086
		telrec -q -o run.tel -a $how >calls
		[ "$(cat calls)" = 4 ]
		for size in 7004 9000; do
			[ "$(counts run.tel "type == \"malloc\" && size == $size")" = 1 ]
		done
		[ "$(counts run.tel 'size == 4 || size == 2000')" = 0 ]
		[[ $how == ./* ]] || ordered run.tel
	done
}

# needs_jemalloc: skips where there is none.
needs_jemalloc() {
	if ! telrec -q -a jemalloc -o run.tel "$program" pairs 10 2>said; then
		grep "no such library" said
		skip "jemalloc is not installed"
	fi
}

@test "a path of an allocator is that of telrec's folder, and can be preloaded" {
	cat >library.c <<-'END'
		#include <unistd.h>
		__attribute__((constructor)) static void
		start(void)
		{
			(void)!write(1, "+", 1);
		}
	END
	${CC:-cc} -shared -fPIC -o library.so library.c
	# telrec loads it, too, to see whether it can be
	run telrec -q -o run.tel -a ./library.so sh -c 'cd /; sleep 0; echo'
	[ "$status" = 0 ]
	[ "$output" = +++ ]
	for name in 'a b.so' 'a:b.so'; do
		cp library.so "$name"
		run -125 telrec -q -o run.tel -a "./$name" true
		[[ $output == *"/$name: a path with a blank or a colon cannot be preloaded" ]]
	done
}

# The loader looks where the module says that calls dlopen(), which here is
# telrec's library, as operators of modules are recorded.
@test "a program finds the modules that it finds without telrec" {
	needs_jemalloc
	mkdir lib
	cat >module.cc <<-'END'
		char *volatile kept;
		extern "C" void grab()
		{
			kept = new char[4444];
			delete[] kept;
		}
	END
	cat >load.cc <<-'END'
		#include <dlfcn.h>
		int main(int, char **argv)
		{
			delete new int;
			while (*++argv != nullptr) {
				void *module = dlopen(*argv, RTLD_NOW);
				if (module == nullptr)
					return 7;
				((void (*)())dlsym(module, "grab"))();
				dlclose(module);
			}
			return 0;
		}
	END
	c=${CXX:-c++}
	$c -O0 -shared -fPIC -o lib/module.so module.cc || skip "no compiler of C++"
	$c -O0 -o plain load.cc -ldl
	for tags in enable disable; do
		$c -O0 -o $tags load.cc -ldl -Wl,--$tags-new-dtags \
		    -Wl,-rpath,"\$ORIGIN/lib"
	done
	loads() {
		echo "$*"
		telrec -q -a jemalloc -o run.tel "$@"
	}
	# one after the other, each in the place of the one before
	for i in 2 3 4; do
		cp lib/module.so "lib/module$i.so"
	done
	loads ./plain ./lib/module.so ./lib/module2.so ./lib/module3.so \
	    ./lib/module4.so
	[ "$(counts run.tel 'size == 4444')" = 4 ]
	for program in plain enable disable; do
		loads "./$program" ./lib/module.so
		[ "$(counts run.tel 'size == 4444')" = 1 ]
		# shellcheck disable=SC2016 # the loader expands it
		loads "./$program" '$ORIGIN/lib/module.so'
		LD_LIBRARY_PATH=lib loads "./$program" module.so
		if [ "$program" != plain ]; then
			loads "./$program" module.so
			continue
		fi
		[ "$(counts run.tel 'size == 4444')" = 1 ]
		run -7 telrec -q -a jemalloc -o run.tel "./$program" module.so
	done
}

@test "a program with an allocator of its own is named, unless that calls the next one" {
	cat >own.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stdlib.h>
		void *malloc(size_t n)
		{
			static char heap[1 << 20];
			static size_t at;
			void *(*next)(size_t);
			*(void **)&next = dlsym(RTLD_NEXT, "malloc");
			at += (n + 31) & ~(size_t)15;
			return NEXT ? (char *)next(n + 16) + 16 : heap + at;
		}
		void free(void *p) { (void)p; }
		int main(void) { return malloc(984) == NULL; }
	END
	for next in 0 1; do
		${CC:-cc} -O0 -fno-builtin -DNEXT=$next -o own$next own.c -ldl
	done
	run -0 telrec -o run.tel sh -c './own0; ./own1; ./own1'
	without_cost
	[ "$output" = "telrec: ./own0: not recorded: it has its own allocator" ]
	telcat -H -e unrecorded run.tel | grep -q 'reason=4 program=0x1\["./own0"\]'
	[ "$(counts run.tel 'size == 1000')" = 2 ]
	# nothing tells it from a call of the program
	[ "$(counts run.tel 'size == 17')" = 0 ]
}

@test "operators whose address a program at a fixed address has" {
	cat >fixed.cc <<-'END'
		#include <new>
		void *(*volatile allocate)(std::size_t);
		int main()
		{
			allocate = &::operator new;
			::operator delete(::operator new(1000));
			::operator delete(allocate(1000));
		}
	END
	"${CXX:-c++}" -O0 -fno-pie -no-pie -o fixed fixed.cc || skip "no C++"
	run telrec -a tcmalloc -o run.tel ./fixed
	[[ $output != *"no such library"* ]] || skip "tcmalloc is not installed"
	[ "$status" = 0 ]
	[ "$(counts run.tel 'size == 1000')" = 2 ]
}

@test "a checker of leaks finds none of the library's" {
	echo 'int main(void) { return 0; }' >checked.c
	${CC:-cc} -fsanitize=address -static-libasan -o checked checked.c ||
	    skip "no sanitizer"
	./checked || skip "it does not run here"
	run -125 telrec -o run.tel ./checked
	[[ $output != *Leak* ]]
}
