#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telrec and programs of all kinds: compilers, sandboxes, other preloaded
# libraries.

# The commands of sh are to be expanded by sh; "enter" sets program.
# shellcheck disable=SC2016,SC2154

load telrec

setup_file() {
	build_program
}

setup() {
	needs_preload
	enter
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
	ordered run.tel
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
	ordered run.tel
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

@test "a thread is not cancelled within malloc or free" {
	cat >cancel.c <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		#include <unistd.h>
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		static volatile int locked, cancelled;
		/* another depth of the stack each time */
		static void deep(int n)
		{
			volatile char room[4096];
			room[n % 4096] = 1;
			if (n > 0)
				deep(n - 1);
			free(malloc(24));
		}
		static void *work(void *arg)
		{
			int i;
			pthread_mutex_lock(&lock);
			for (locked = 1; !cancelled;)
				;
			for (i = 0; i < 2000000; i++)
				free(malloc(24));
			deep(200);
			pthread_mutex_unlock(&lock);
			return arg;
		}
		int main(void)
		{
			pthread_t t;
			pthread_create(&t, NULL, work, NULL);
			while (!locked)
				;
			pthread_cancel(t);
			cancelled = 1;
			pthread_join(t, NULL);
			alarm(5);
			pthread_mutex_lock(&lock);
			return 0;
		}
	END
	${CC:-cc} -O1 -fno-builtin -o cancel cancel.c -pthread
	telrec -o run.tel ./cancel
	telrec -q --stacks=fp -o run.tel ./cancel
	telrec -q -g -o run.tel ./cancel
}

@test "processes in a namespace of their own have other numbers" {
	unshare -pf true 2>/dev/null || skip "no namespaces here"
	cat >apart.c <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		#include <unistd.h>
		static void *work(void *arg)
		{
			int i;
			for (i = 0; i < 60000; i++) {
				free(malloc(100));
				if (i % 20000 == 0)
					usleep(200000);
			}
			return arg;
		}
		int main(void)
		{
			pthread_t t[4];
			int i;
			for (i = 0; i < 4; i++)
				pthread_create(&t[i], NULL, work, NULL);
			for (i = 0; i < 4; i++)
				pthread_join(t[i], NULL);
			return 0;
		}
	END
	${CC:-cc} -O1 -fno-builtin -o apart apart.c -pthread
	timeout -k 1 30 "$TEL_BUILD/bin/telrec" -o run.tel unshare -pf ./apart
	[ "$(counts run.tel 'size == 100')" = 240000 ]
	ordered run.tel
	# a reader that is late is not one that has ended
	mkfifo late
	{ sleep 2; cat; } <late >late.tel &
	timeout -k 1 30 "$TEL_BUILD/bin/telrec" -o - unshare -pf ./apart >late
	wait $!
	[ "$(counts late.tel 'size == 100')" = 240000 ]
}

@test "an allocator whose functions call one another: each call is one event" {
	cat >nest.c <<-'END'
		#include <errno.h>
		#include <stdint.h>
		#include <string.h>
		static char memory[1 << 22];
		static size_t used;
		#ifdef ONE
		/* posix_memalign() alone calls another one */
		static void *inner(size_t alignment, size_t n);
		void *memalign(size_t alignment, size_t n)
		{
			return inner(alignment, n);
		}
		#define memalign(alignment, n) inner(alignment, n)
		#define malloc(n) inner(16, n)
		static
		#endif
		void *memalign(size_t alignment, size_t n)
		{
			uintptr_t p = (uintptr_t)memory + __atomic_fetch_add(&used,
			    n + alignment + 16, __ATOMIC_SEQ_CST) + 16;
			p = (p + alignment - 1) & ~(uintptr_t)(alignment - 1);
			memcpy((char *)p - 8, &n, sizeof(n));
			return (void *)p;
		}
		void *(malloc)(size_t n) { return memalign(16, n); }
		void *valloc(size_t n) { return memalign(4096, n); }
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
			memcpy(&was, (char *)p - 8, sizeof(was));
			memcpy(q, p, was < n ? was : n);
			free(p);
			return q;
		}
		int posix_memalign(void **p, size_t alignment, size_t n)
		{
			*p = (memalign)(alignment, n);
			return *p != NULL ? 0 : ENOMEM;
		}
	END
	cat >calls.c <<-'END'
		#include <stdlib.h>
		void *valloc(size_t n);
		int main(void)
		{
			void *a = malloc(1111), *b = calloc(1, 2222), *c;
			a = realloc(a, 3333);
			if (a == NULL || posix_memalign(&c, 64, 4444) != 0)
				return 1;
			free(a);
			free(b);
			free(c);
			free(valloc(5555));
			return 0;
		}
	END
	cc=${CC:-cc}
	$cc -O1 -fno-builtin -shared -fPIC -o nest.so nest.c
	$cc -O1 -fno-builtin -shared -fPIC -DONE -o one.so nest.c
	$cc -O0 -fno-builtin -o calls calls.c
	for options in '--times=exact -a ./nest.so' '--stacks=fp -a ./nest.so' \
	    '--sample 1 -a ./nest.so' '-a ./one.so'; do
		# shellcheck disable=SC2086
		telrec $options -o run.tel ./calls
		telcat -q -k Alloc run.tel | sed -n '/ size=1111 /,$p' |
		    sed -nE 's/^[0-9A-F]+ ([a-z_]+) .*size=([0-9]+).*/\1 \2/p
			s/^[0-9A-F]+ (free) .*/\1/p' >got
		printf '%s\n' 'malloc 1111' 'calloc 2222' 'realloc 3333' \
		    'posix_memalign 4444' free free free 'valloc 5555' free |
		    diff - got
		telstat run.tel >report
		run ! grep '^unknown' report
	done
}

@test "a sandbox by a filter of system calls" {
	run telrec -o run.tel "$program" filter
	[ "$status" != 77 ] || skip "no seccomp here"
	[ "$status" = 0 ]
	[ "$(counts run.tel 'size == 60')" = 100000 ]
}

@test "a sandbox that kills for each call: not for those of the library" {
	for how in prctl syscall exec folder; do
		# as without telrec, too
		run "$program" killing "$how"
		[ "$status" != 77 ] || skip "no seccomp here"
		[ "$status" = 0 ]
		for option in --maps -g; do
			run telrec "$option" -o run.tel "$program" killing "$how"
			[ "$status" = 0 ]
			[ "$(counts run.tel 'size == 60')" = 200000 ]
			# what it executes cannot ask for its number
			case $how in
			folder) [ "$(counts run.tel 'size == 100')" -gt 0 ] ;;
			*) [ "$(counts run.tel 'size == 100')" = 0 ] ;;
			esac
		done
	done
}

@test "calls that bypass the library are not recorded, and listed as such" {
	cat >bypass.c <<-'END'
		#include <dlfcn.h>
		#include <stdlib.h>
		int main(void)
		{
			void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
			void *(*allocate)(size_t), (*release)(void *);
			if (libc == NULL)
				return 77;
			*(void **)&allocate = dlsym(libc, "malloc");
			*(void **)&release = dlsym(libc, "free");
			release(allocate(12345));
			free(malloc(54321));
			return 0;
		}
	END
	${CC:-cc} -fno-builtin -o bypass bypass.c -ldl
	run telrec -o run.tel ./bypass
	[ "$status" != 77 ] || skip "no such C library"
	[ "$status" = 0 ]
	[ "$(counts run.tel 'size == 54321')" = 1 ]
	# if these are recorded one day, the manual is to say so
	[ "$(counts run.tel 'size == 12345')" = 0 ]
	grep -q 'C library itself' "$TEL_TOP/man/telrec.1"
}

@test "modules that are bound to the C library first are recorded" {
	echo '#include <stdlib.h>
	void *get(size_t n) { return realloc(malloc(n), n + 100); }
	void put(void *p) { free(p); }' >deep.c
	# an allocator that no other module uses
	echo '#include <stddef.h>
	static char room[1 << 16], *next = room;
	void *malloc(size_t n) { char *p = next; next += (n + 31) & -16ul; return p; }
	void *realloc(void *p, size_t n) { return p == NULL ? malloc(n) : p; }
	void free(void *p) { if ((char *)p < room || (char *)p >= next) *(int *)1 = 1; }' >own.c
	cat >loads.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stdlib.h>
		int main(int argc, char **argv)
		{
		#ifdef RTLD_DEEPBIND
			for (int i = 1; i < argc; i++) {
				void *deep = dlopen(argv[i], RTLD_LAZY | RTLD_DEEPBIND);
				void *(*get)(size_t), (*put)(void *);
				if (deep == NULL || dlerror() != NULL)
					return 1;
				*(void **)&get = dlsym(deep, "get");
				*(void **)&put = dlsym(deep, "put");
				put(get(1000 + i));
				if (i < 3) {
					free(get(2000 + i));
					put(malloc(3000 + i));
				}
			}
			return 0;
		#else
			return 77;
		#endif
		}
	END
	cc=${CC:-cc}
	mkdir -p there
	$cc -fno-builtin -shared -fPIC -Wl,-z,lazy -o lazy.so deep.c
	$cc -fno-builtin -shared -fPIC -Wl,-z,now -o now.so deep.c
	$cc -fno-builtin -shared -fPIC -Wl,-soname,libown.so -o libown.so own.c
	$cc -fno-builtin -shared -fPIC -Wl,-z,lazy -o there/other.so deep.c -L. \
	    -Wl,--no-as-needed -lown -Wl,-rpath,"$PWD"
	# found by what the program says, as without telrec
	$cc -fno-builtin -o loads loads.c -ldl -Wl,--enable-new-dtags,-rpath,"$PWD/there"
	run ./loads "$PWD/lazy.so" "$PWD/now.so" "$PWD/there/other.so" other.so
	[ "$status" != 77 ] || skip "no RTLD_DEEPBIND here"
	[ "$status" = 0 ]
	# also by functions that telrec has in between
	echo '#include <dlfcn.h>
	int main(void) { return dlopen("other.so", RTLD_NOW) == 0; }' >plain.c
	$cc -o plain plain.c -ldl -Wl,--enable-new-dtags,-rpath,"$PWD/there"
	telrec -q -o run.tel ./plain
	run telrec -o run.tel ./loads "$PWD/lazy.so" "$PWD/now.so" \
	    "$PWD/there/other.so" other.so
	[ "$status" = 0 ]
	for n in 1001 1002 2001 2002 3001 3002; do
		[ "$(counts run.tel "size == $n")" = 1 ]
	done
	[ "$(counts run.tel 'size == 1003 || size == 1004')" = 0 ]
	telstat run.tel >text
	run ! grep -E '^(ended|unknown) ' text
}

@test "a dlsym that allocates does not keep the allocator from being found" {
	# as that of glibc does for messages, and for new threads
	cat >own.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		static void *(*next)(void *, const char *);
		static const char *const versions[] = { "GLIBC_2.34",
			"GLIBC_2.2.5", "GLIBC_2.0", "GLIBC_2.17" };
		static int calls;
		void *dlsym(void *handle, const char *name)
		{
			char *p = calloc(3, 40), *q = malloc(24);
			void *found;
			for (int i = 0; i < 4 && next == NULL; i++)
				*(void **)&next = dlvsym(RTLD_NEXT, "dlsym",
				    versions[i]);
			for (int i = 0; i < 120; i++)
				if (p == NULL || p[i] != 0)
					abort();
			q = realloc(q, 48);
			free(NULL);
			found = next != NULL ? next(handle, name) : NULL;
			free(p);
			free(q);
			calls++;
			return found;
		}
		__attribute__((destructor)) static void end(void)
		{
			if (getenv("OWN") != NULL && calls > 0)
				(void)!write(2, "own dlsym\n", 10);
		}
	END
	cc=${CC:-cc}
	$cc -shared -fPIC -fno-builtin -o own.so own.c -ldl
	run -0 --separate-stderr env OWN=1 LD_PRELOAD="$PWD/own.so" \
	    "$TEL_BUILD/bin/telrec" -o run.tel "$program" pairs 50
	[[ $stderr == *"own dlsym"* ]]
	[ "$(counts run.tel 'size == 100')" = 50 ]
	ordered run.tel
}

@test "each call returns what it does without telrec, and is in the log" {
	cc -O1 -pthread -o calls "$TEL_TOP/tests/cli/telrec_calls.c" -ldl
	./calls file >want
	for options in '--sample 1' -g --maps; do
		# shellcheck disable=SC2086
		telrec -q $options -o run.tel ./calls file >got
		diff want got
	done
	# nor does the library by itself change anything
	LD_PRELOAD=$TEL_BUILD/libtelrec.so ./calls file | diff want -
	# addresses are X, and the rest is what the program asked for
	telcat -q run.tel | sed -n '/malloc .* size=10 /,$p' |
	    sed '/increment=-48/q' | sed -E 's/^[0-9A-F]+ //; s/ pid=.*//
		s/=0x[0-9a-f]{2,}/=X/g; s/=0x0/=0/; s/[0-9]{10,}/HUGE/' >events
	diff - events <<-'END'
		malloc address=X size=10
		free address=X
		malloc address=X size=0
		free address=X
		malloc address=0 size=HUGE
		calloc address=X count=3 size=7
		free address=X
		calloc address=0 count=HUGE size=4
		calloc address=0 count=1 size=HUGE
		malloc address=X size=40
		realloc address=0 old=X size=HUGE
		realloc address=X old=X size=100000
		reallocarray address=0 old=X count=HUGE size=4
		reallocarray address=X old=X count=3 size=70000
		realloc address=0 old=X size=0
		memalign address=X alignment=512 size=100
		free address=X
		memalign address=0 alignment=512 size=HUGE
		aligned_alloc address=X alignment=256 size=512
		free address=X
		aligned_alloc address=0 alignment=256 size=HUGE
		posix_memalign address=X alignment=1024 size=5
		free address=X
		posix_memalign address=0 alignment=3 size=5
		posix_memalign address=0 alignment=64 size=HUGE
		valloc address=X alignment=4096 size=10
		free address=X
		valloc address=0 alignment=4096 size=HUGE
		pvalloc address=X alignment=4096 size=10
		free address=X
		pvalloc address=0 alignment=4096 size=HUGE
		malloc address=X size=100
		free address=X
		mmap address=X size=4096
		mmap address=X size=4096
		mmap address=X size=16384
		mremap address=X old=X old_size=4096 size=4096
		munmap address=X size=16384
		munmap address=X size=4096
		brk address=X increment=64
		brk address=X increment=-48
	END
}

@test "the first call of a program may be any, before the library has started" {
	cat >library.c <<-'END'
		#define _GNU_SOURCE
		#include <malloc.h>
		#include <stdlib.h>
		void *kept;
		__attribute__((constructor)) static void first(int argc, char **argv)
		{
			int i = argc > 1 ? atoi(argv[1]) : -1;
			size_t n = i % 2 == 0 ? 77 : 70007;
			switch (i / 2) {
			case 1: kept = malloc(n); break;
			case 2: kept = calloc(1, n); break;
			case 3: kept = calloc(3, n); break;
			case 4: kept = realloc(NULL, n); break;
			case 5: kept = reallocarray(NULL, 3, n); break;
			case 6: kept = memalign(64, n); break;
			case 7: kept = aligned_alloc(64, n); break;
			case 8: if (posix_memalign(&kept, 64, n)) abort(); break;
			case 9: kept = valloc(n); break;
			case 10: kept = pvalloc(n); break;
			}
		}
	END
	cat >first.c <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		extern void *kept;
		static void *rest(void *main)
		{
			return (void *)(long)pthread_join((pthread_t)main, NULL);
		}
		int main(int argc, char **argv)
		{
			char text[12];
			pthread_t thread;
			if (argc > 2) {
				pthread_create(&thread, NULL, rest, (void *)pthread_self());
				pthread_exit(NULL);
			}
			for (int i = 2; argc == 1 && i < 22; i++) {
				snprintf(text, sizeof(text), "%d", i);
				if (fork() == 0)
					return execl(argv[0], argv[0], text, (char *)0);
				wait(NULL);
			}
			if (argc > 1)
				free(kept);
			return 0;
		}
	END
	cc=${CC:-cc}
	$cc -O1 -fno-builtin -shared -fPIC -o library.so library.c
	$cc -O1 -fno-builtin -pthread -o first first.c ./library.so
	for end in malloc:size= calloc:'count=1 size=' calloc:'count=3 size=' \
	    realloc:'old=0x0 size=' reallocarray:'old=0x0 count=3 size=' \
	    memalign:'alignment=64 size=' aligned_alloc:'alignment=64 size=' \
	    posix_memalign:'alignment=64 size=' \
	    valloc:'alignment=4096 size=' pvalloc:'alignment=4096 size='; do
		for n in 77 70007; do
			echo "${end%%:*} ${end#*:}$n"
			echo "free"
		done
	done >want
	for options in '' -g --times=exact; do
		# shellcheck disable=SC2086
		telrec -q $options -o run.tel ./first
		telcat -q -k Alloc run.tel |
		    sed -nE 's/ pid=.*//; /^#/!s/^[0-9A-F]+ //p' |
		    awk '$1 == "free" && $2 != last { print "not of that block" }
			{ last = $2; sub(" address=[^ ]*", ""); print }' |
		    if [ "$options" = -g ]; then
			# it has no stack yet
			sed -E '/^free/!{ s/ trace=0$//; t; s/$/ stack/; }'
		    else
			cat
		    fi | diff want -
	done
	# the end of the thread of that call
	telrec -q -o run.tel ./first 2 end
	[ "$(telcat -c -e thread_end run.tel)" = 2 ]
}

@test "execl() with as many arguments as it takes, and more" {
	cat >many.c <<-'END'
		#include <errno.h>
		#include <unistd.h>
		#define FOUR(x) x, x, x, x
		#define MANY(x) FOUR(FOUR(FOUR(FOUR(x))))
		int main(int argc, char **argv)
		{
			(void)argv;
			if (argc == 1)
				execl("/bin/sh", "sh", "-c", "exit $(($# / 10))",
				    MANY("x"), MANY("x"), MANY("x"), (char *)0);
			else
				execl("/bin/sh", "sh", "-c", "exit 9", MANY("x"),
				    MANY("x"), MANY("x"), MANY("x"), (char *)0);
			return errno == E2BIG ? 7 : 8;
		}
	END
	${CC:-cc} -o many many.c
	run -76 telrec -q -o run.tel ./many
	run -7 telrec -q -o run.tel ./many x
}
