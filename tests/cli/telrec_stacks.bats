#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telrec -g: the stacks of the allocations of a program.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154

load telrec

setup_file() {
	cd "$BATS_FILE_TMPDIR" || exit
	cat >library.c <<-'END'
		#include <stdlib.h>
		void *volatile library_kept;
		void library_grab(size_t n) { library_kept = malloc(n); }
	END
	cc -O1 -g -fno-omit-frame-pointer -shared -fPIC -o library.so library.c
}

setup() {
	needs_preload
	enter
	needs_frames
	cp "$BATS_FILE_TMPDIR/library.so" .
}

# build FLAG ...: the program, which other tests may have built.
build() {
	local kept=$BATS_FILE_TMPDIR/with${*// /}
	[ -x "$kept" ] || g++ -g -pthread "$@" -o "$kept" \
	    "$TEL_TOP/tests/cli/telrec_stacks.cc" -ldl
	cp "$kept" program
}

# record OPTION ...: its log; skips where names cannot be had.
record() {
	telrec "$@" -o run.tel ./program ./library.so 2>messages
	if grep -q 'needs libdw' messages; then
		find /lib /usr/lib -name libdw.so.1 2>/dev/null | grep -q . ||
		    skip "no libdw"
	fi
	output=$(<messages)
	without_cost
	[ "$output" = "" ]
	telcat -f folded --weight allocated run.tel >lines
}

# has SIZE FRAMES: a stack that ends in these has allocated so many bytes.
has() {
	echo "$2"
	grep -E "(^|;)$2 $1\$" lines
}

# all_stacks: those of the program.
all_stacks() {
	has 1001 'main;recurse\(int\);recurse\(int\);recurse\(int\);recurse\(int\);take'
	has 1002 'main;space::Box<long>::fill\(long\);take'
	has 1004 'run_thread\(void\*\);take'
	has 1005 'main;cc::spawn;take'
	has 1006 'main;in_library\(char const\*\);library_grab'
	# of a recursion, as many frames as there may be
	deep=$(grep -E '^(recurse\(int\);)+take 1001$' lines)
	[ "$(tr -cd ';' <<<"$deep" | wc -c)" -eq 128 ]
	# each frame is recorded before its use
	run ! grep -q '<unknown>' lines
}

@test "by frame pointers" {
	build -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls
	record --stacks=fp
	all_stacks
	# the label of an address has the line in each function
	source=$TEL_TOP/tests/cli/telrec_stacks.cc
	inner=$(grep -n 'kept = malloc(n);' "$source" | cut -d : -f 1)
	outer=$(grep -n 'take(1001);' "$source" | cut -d : -f 1)
	label="\[\"take at [^ ]*telrec_stacks.cc:$inner <- recurse(int) at [^ ]*telrec_stacks.cc:$outer\"\]"
	telcat -e trace run.tel >traces
	grep -q "$label" traces
	# clang writes no index of addresses
	objcopy -R .debug_aranges program
	record --stacks=fp
	telcat -e trace run.tel >traces
	grep -q "$label" traces
}

@test "functions that C++ keeps within a file have their whole names" {
	cat >local.cc <<-'END'
		#include <cstdlib>
		void *volatile kept;
		namespace shop
		{
		namespace
		{
		struct Cart {
			__attribute__((noinline)) void fill(size_t n) { kept = malloc(n); }
			__attribute__((always_inline)) void add(size_t n) { kept = malloc(n); }
		};
		} // namespace
		} // namespace shop
		int main()
		{
			auto take = [](size_t n) __attribute__((noinline)) { kept = malloc(n); };
			take(1001);
			shop::Cart().fill(1002);
			shop::Cart().add(1003);
			auto put = [](size_t n) __attribute__((always_inline)) { kept = malloc(n); };
			put(1004);
			return 0;
		}
	END
	g++ -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls \
	    -o program local.cc
	record --stacks=fp
	has 1001 "main;main::'?\{?lambda.*"
	has 1002 'main;shop::\(anonymous namespace\)::Cart::fill\(unsigned long\)'
	# those that are inlined, too, which have no symbols
	has 1003 'main;shop::\(anonymous namespace\)::Cart::add'
	has 1004 'main;main\(\)::\{lambda\}::operator\(\)'
	# the linker's optimiser declares them in another unit than their code
	g++ -O1 -g -flto -fno-omit-frame-pointer -o program local.cc
	record --stacks=fp
	has 1003 '(main;)?shop::\(anonymous namespace\)::Cart::add'
	has 1004 '(main;)?main\(\)::\{lambda\}::operator\(\)'
}

@test "functions in namespaces, as clang and rustc write them" {
	command -v clang++ >/dev/null || skip "no clang"
	cat >program.cc <<-'END'
		#include <cstdlib>
		namespace outer { namespace inner {
		static inline void *take(size_t n) { return malloc(n); }
		void *volatile kept;
		__attribute__((noinline)) void grab(size_t n) { kept = take(n); }
		} }
		int main() { outer::inner::grab(1001); return 0; }
	END
	clang++ -O1 -g -fno-omit-frame-pointer -o program program.cc
	record --stacks=fp
	has 1001 'main;outer::inner::grab\(unsigned long\);(outer::inner::)?take(\(unsigned long\))?'
}

@test "by tables, also without frame pointers, and in a signal handler" {
	find /lib /usr/lib -name libunwind.so.8 2>/dev/null | grep -q . ||
	    skip "no libunwind"
	build -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
	record -g
	all_stacks
	grep -E '(^|;)main;.*;on_signal\(int\);take 1003$' lines
}

@test "by frame pointers that are none, nothing crashes" {
	build -O2 -fomit-frame-pointer
	record --stacks=fp
	[ "$(telcat -H -e malloc -w 'size > 1000 && size < 1007' run.tel |
	    wc -l)" -eq 7 ]
	telrec --stacks=fp -o python.tel python3 -c 'print(6 * 7)' >out
	[ "$(cat out)" = 42 ]
}

@test "a stripped program has modules and offsets" {
	build -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls
	strip program
	record --stacks=fp
	grep -E '(^|;)program\+0x[0-9a-f]+ 1002$' lines
	has 1006 '.*library_grab'
}

@test "a file that took the place of a module gives no names" {
	sed 's/library_grab/other_grab/' "$BATS_FILE_TMPDIR/library.c" >other.c
	cc -O1 -g -fno-omit-frame-pointer -shared -fPIC -o other.so other.c
	cat >program.c <<-'END'
		#include <dlfcn.h>
		#include <stddef.h>
		#include <stdio.h>
		int main(int argc, char **argv) {
			void *l = dlopen(argv[1], RTLD_NOW);
			void (*grab)(size_t) = (void (*)(size_t))dlsym(l, "library_grab");
			if (argc > 2)
				rename(argv[2], argv[1]);
			grab(1006);
			return 0;
		}
	END
	cc -O1 -g -fno-omit-frame-pointer -o program program.c -ldl
	record --stacks=fp
	has 1006 'main;library_grab'
	telrec --stacks=fp -o run.tel ./program ./library.so other.so
	telcat -f folded --weight allocated run.tel >lines
	has 1006 'main;library\.so\+0x[0-9a-f]+'
	# identifiers of 40 bytes and of 80, and a file that has none
	forty=$(printf '5a%.0s' {1..39})
	for ids in "0x11$forty 0x22$forty" "0x115a$forty$forty 0x225a$forty$forty" \
	    '0x11223344 none'; do
		set -- library other
		for id in $ids; do
			cc -O1 -g -fno-omit-frame-pointer -shared -fPIC \
			    -Wl,--build-id="$id" -o "$1.so" "$BATS_FILE_TMPDIR/library.c"
			shift
		done
		record --stacks=fp
		has 1006 'main;library_grab'
		telrec -q --stacks=fp -o run.tel ./program ./library.so other.so
		telcat -f folded --weight allocated run.tel >lines
		has 1006 'main;library\.so\+0x[0-9a-f]+'
	done
}

# All are built alike, so that each has its code where the one before had it.
@test "a child of a program with threads allocates, whatever these unwind as it is forked" {
	cat >forks.c <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		void *volatile kept;
		/* each is new to the unwinder, which then takes locks */
		#define F(n) static void f##n(void) { kept = malloc(__LINE__); free(kept); }
		#define G(n) f##n,
		#define A4(X, n) X(n##0) X(n##1) X(n##2) X(n##3)
		#define A16(X, n) A4(X, n##0) A4(X, n##1) A4(X, n##2) A4(X, n##3)
		#define A64(X, n) A16(X, n##0) A16(X, n##1) A16(X, n##2) A16(X, n##3)
		#define A256(X, n) A64(X, n##0) A64(X, n##1) A64(X, n##2) A64(X, n##3)
		#define A1024(X, n) A256(X, n##0) A256(X, n##1) A256(X, n##2) A256(X, n##3)
		A1024(F, 1) A1024(F, 2) A1024(F, 3)
		static void (*const all[])(void) = { A1024(G, 1) A1024(G, 2) A1024(G, 3) };
		static void *run(void *arg) {
			for (size_t i = 0, n = (size_t)arg * 1000;; i++)
				all[(i * 7 + n) % 3072]();
			return NULL;
		}
		int main(void) {
			pthread_t t;
			for (size_t i = 0; i < 3; i++)
				pthread_create(&t, NULL, run, (void *)i);
			for (int i = 0; i < 60; i++) {
				if (fork() == 0) {
					for (int k = 0; k < 5; k++)
						all[(k * 13 + i * 5) % 3072]();
					_exit(0);
				}
				wait(NULL);
			}
			_exit(0);
		}
	END
	cc -O0 -fomit-frame-pointer -pthread -o forks forks.c
	for way in -g --stacks=fp; do
		clean timeout -k 1 60 telrec -q $way -o run.tel ./forks
		[ "$(telcat -c -k Process run.tel)" -ge 61 ]
	done
}

@test "modules that follow each other in the same place have their own names" {
	for i in 1 2 3; do
		printf '#include <stdlib.h>\nvoid *grab%d(size_t n) {
			void *p = malloc(n);
			*(char *)p = 1;
			return p;
		}\n' "$i" >"$i.c"
		cc -O0 -g -fno-omit-frame-pointer -shared -fPIC -o "$i.so" "$i.c"
	done
	cat >program.c <<-'END'
		#include <dlfcn.h>
		#include <stdlib.h>
		int main(int argc, char **argv)
		{
			for (int i = 0; i < 900; i++) {
				const char n = argv[argc > 2 ? 1 + i % 3 : 1][2];
				char name[] = { 'g', 'r', 'a', 'b', n, 0 },
				     path[] = { '.', '/', n, '.', 's', 'o', 0 };
				void *l = dlopen(path, RTLD_NOW);
				free(((void *(*)(size_t))dlsym(l, name))(n + 1000));
				dlclose(l);
			}
			return 0;
		}
	END
	cc -O0 -g -fno-omit-frame-pointer -o program program.c -ldl
	for how in fp unwind; do
		telrec -q --stacks=$how -o run.tel ./program ./1.so ./2.so ./3.so
		telcat -f folded --weight allocated run.tel >lines
		for i in 1 2 3; do
			has $((300 * (1048 + i))) "main;grab$i"
		done
		# frames are recorded anew only where another module is
		telrec -q --stacks=$how -o run.tel ./program ./1.so
		[ "$(counts run.tel 'type == "trace"')" -lt 200 ]
	done
}

@test "to a pipe: frames have names where they are recorded" {
	build -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls
	record --stacks=fp
	telrec --stacks=fp -o - ./program ./library.so |
	    telcat -f folded --weight allocated >lines
	all_stacks
}

@test "with --ring frames are kept that later events use" {
	build -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls
	record --stacks=fp --ring 64M
	all_stacks
}

@test "with --ring, by tables" {
	find /lib /usr/lib -name libunwind.so.8 2>/dev/null | grep -q . ||
	    skip "no libunwind"
	build -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
	record --stacks=unwind --ring 64M
	all_stacks
	grep -E '(^|;)main;.*;on_signal\(int\);take 1003$' lines
}

@test "without libunwind, stacks are taken by frame pointers, and that is said" {
	build -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls
	mkdir none
	: >none/libunwind.so.8
	LD_LIBRARY_PATH=none:${LD_LIBRARY_PATH-} run telrec -g -o run.tel \
	    ./program ./library.so
	[ "$status" = 0 ]
	[[ $output == *"libunwind cannot be loaded: stacks are taken by frame pointers"* ]]
	telcat -f folded --weight allocated run.tel | grep -q ';'
	run -0 telrec --stacks=fp -o run.tel ./program ./library.so
	[[ $output != *libunwind* ]]
}

@test "stacks that differ in one frame, whichever, are different ones" {
	cat >bits.c <<-'END'
		#include <stdlib.h>
		#define LEVELS 9
		static void *volatile kept;
		static void B(unsigned bits, int level);
		__attribute__((noinline)) static void
		A(unsigned bits, int level)
		{
			if (level == LEVELS)
				kept = malloc(1000 + bits);
			else
				(bits >> level & 1 ? B : A)(bits, level + 1);
			__asm__ volatile("");
		}
		__attribute__((noinline)) static void
		B(unsigned bits, int level)
		{
			if (level == LEVELS)
				kept = malloc(1000 + bits);
			else
				(bits >> level & 1 ? B : A)(bits, level + 1);
			__asm__ volatile("" ::: "memory");
		}
		int main(void)
		{
			for (unsigned i = 0; i < 2u << LEVELS; i++)
				A(i >> 1, 0);
			return 0;
		}
	END
	cc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls \
	    -fno-builtin -o bits bits.c
	for how in fp unwind; do
		[ $how = fp ] || find /lib /usr/lib -name libunwind.so.8 2>/dev/null |
		    grep -q . || continue
		telrec -q --stacks=$how -o run.tel ./bits
		telcat -H -e malloc -w 'size >= 1000 && size < 1512' run.tel |
		    sed -E 's/.* size=([0-9]+) trace=([0-9]+) .*/\1 \2/' >events
		[ "$(wc -l <events)" = 1024 ]
		# each size has one, and no two have the same
		[ "$(sort -u events | wc -l)" = 512 ]
		[ "$(cut -d ' ' -f 2 events | sort -u | wc -l)" = 512 ]
		telcat -f folded --weight count run.tel >lines
		has '[0-9]+' 'main(;A){10}'
	done
}

@test "in a sandbox without system calls stacks are those that need none" {
	cat >deep.c <<-'END'
		#include <linux/seccomp.h>
		#include <stdlib.h>
		#include <sys/prctl.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		static void *volatile kept;
		static void end(void)
		{
			kept = malloc(2001);
			if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0)
				_exit(77);
			kept = malloc(2002);
			syscall(SYS_exit, 0);
		}
		static void deep(int n)
		{
			volatile char room[5000];
			room[0] = 1;
			if (n == 0)
				end();
			else
				deep(n - 1);
			room[1] = 2;
		}
		int main(void)
		{
			deep(9);
			return 1;
		}
	END
	cc -O0 -g -fno-omit-frame-pointer -fno-builtin -o program deep.c
	run telrec -q --stacks=fp -o run.tel ./program
	[ "$status" != 77 ] || skip "no seccomp here"
	[ "$status" = 0 ]
	telcat -f folded --weight allocated run.tel >lines
	deep=$(printf 'deep;%.0s' {1..10})
	has 4003 "main;${deep}end"
	# libunwind would make calls
	run -0 telrec -q -g -o run.tel ./program
	[ "$(counts run.tel 'size == 2002 && trace == 0')" = 1 ]
}
