/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the functions that telrec records return: each with arguments of which
 * every one matters, in success and failure, and what it makes of errno.  The
 * output is the same without telrec.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SET 4711 /* what errno is before each call */

static volatile size_t huge = SIZE_MAX / 2;

static void
print(const char *name, long result)
{
	int was = errno;

	printf("%s: %ld, errno %d\n", name, result, was);
	errno = SET;
}

/* A block: whether it is there, aligned, and can be written. */
static void *
block(const char *name, void *p, size_t size, size_t align)
{
	int was = errno;

	if (p != NULL)
		memset(p, 1, size);
	errno = was;
	print(name, p == NULL ? -1 : (uintptr_t)p % align == 0);
	return p;
}

static void
blocks(void)
{
	volatile char *c;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p, *q = NULL, *volatile kept;

	errno = SET;
	free(block("malloc", malloc(10), 10, 16));
	print("free", 0);
	free(block("malloc 0", malloc(0), 0, 16));
	print("free", 0);
	block("malloc, huge", malloc(huge), 0, 1);
	free(NULL);
	print("free nothing", 0);
	c = calloc(3, 7);
	print("calloc", c[0] + c[20]);
	free((void *)c);
	block("calloc, overflow", calloc(huge, 4), 0, 1);
	block("calloc, huge", calloc(1, huge), 0, 1);
	p = block("realloc of nothing", realloc(NULL, 40), 40, 16);
	strcpy(p, "kept");
	kept = p;
	block("realloc, huge", realloc(p, huge), 0, 1);
	p = kept;
	p = realloc(p, 100000);
	print("realloc", strcmp(p, "kept"));
	kept = p;
	block("reallocarray, overflow", reallocarray(p, huge, 4), 0, 1);
	p = kept;
	p = reallocarray(p, 3, 70000);
	print("reallocarray", strcmp(p, "kept"));
	print("realloc to 0", realloc(p, 0) == NULL);
	free(block("memalign", memalign(512, 100), 100, 512));
	block("memalign, huge", memalign(512, huge), 0, 1);
	free(block("aligned_alloc", aligned_alloc(256, 512), 512, 256));
	block("aligned_alloc, huge", aligned_alloc(256, huge), 0, 1);
	print("posix_memalign", posix_memalign(&q, 1024, 5));
	free(block("its block", q, 5, 1024));
	q = &page;
	print("posix_memalign of 3", posix_memalign(&q, 3, 5));
	print("posix_memalign, huge", posix_memalign(&q, 64, huge));
	print("its result", q == &page);
	free(block("valloc", valloc(10), 10, page));
	block("valloc, huge", valloc(huge), 0, 1);
	/* whose size is rounded up to a page */
	free(block("pvalloc", pvalloc(10), page, page));
	block("pvalloc, huge", pvalloc(huge), 0, 1);
	p = malloc(100);
	print("usable", malloc_usable_size(p) >= 100);
	free(p);
}

/* The file has a page of 'a', 'b' and 'c' each. */
static void
maps(int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p, *q;

	errno = SET;
	p = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, (off_t)page);
	print("mmap of a file", *p);
	q = mmap64(p, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd,
	    (off_t)(2 * page));
	print("mmap64 to a place", q == p ? *q : -1);
	*q = 'x';
	print("a private one", *q);
	q = mmap(NULL, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	print("mremap to a place",
	    mremap(p, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, q + page) ==
	            q + page ?
	        q[page] :
	        -1);
	print("mremap, huge",
	    mremap(q + page, page, huge, MREMAP_MAYMOVE) == MAP_FAILED);
	print("munmap", munmap(q, 4 * page));
	print("munmap of no page", munmap(q + 1, page));
	print("mmap of nothing",
	    mmap(NULL, 0, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED);
	print("mmap of no file",
	    mmap(NULL, page, PROT_READ, MAP_PRIVATE, 999, 0) == MAP_FAILED);
	p = (char *)syscall(SYS_mmap, NULL, page, PROT_READ, MAP_PRIVATE, fd,
	    page);
	print("syscall of six arguments", *p);
	p = sbrk(64);
	print("sbrk", (char *)sbrk(0) - p);
	print("brk", brk(p + 16));
	print("its end", (char *)sbrk(0) - p);
	print("sbrk, huge", sbrk((intptr_t)huge) == (void *)-1);
	print("brk, huge", brk((void *)huge));
}

static void *
thread_main(void *arg)
{
	char name[16] = "";

	(void)arg;
	print("errno of a thread", 0);
	print("setname", pthread_setname_np(pthread_self(), "worker"));
	(void)prctl(PR_GET_NAME, name);
	printf("%s\n", name);
	print("setname, long",
	    pthread_setname_np(pthread_self(), "a name of 20 letters"));
	return NULL;
}

static void
others(void)
{
	char name[16] = "";
	pthread_t thread;
	int status = 0;

	errno = SET;
	print("prctl", prctl(PR_SET_NAME, "renamed"));
	print("prctl", prctl(PR_GET_NAME, name));
	printf("%s\n", name);
	errno = SET;
	/* an argument that is not 0 is refused */
	print("prctl of none", prctl(PR_MCE_KILL_GET, 0, 0, 0, 0) >= 0);
	print("prctl of the 1st", prctl(PR_MCE_KILL_GET, 1, 0, 0, 0));
	print("prctl of the 2nd", prctl(PR_MCE_KILL_GET, 0, 1, 0, 0));
	print("prctl of the 3rd", prctl(PR_MCE_KILL_GET, 0, 0, 1, 0));
	print("prctl of the 4th", prctl(PR_MCE_KILL_GET, 0, 0, 0, 1));
	print("syscall", syscall(SYS_getpid) == getpid());
	print("no syscall", syscall(-1));
	print("dlopen of no file", dlopen("./none.so", RTLD_NOW) == NULL);
	errno = SET;
	print("dlopen of itself", dlopen(NULL, RTLD_NOW) != NULL);
	status = pthread_create(&thread, NULL, thread_main, NULL);
	if (status == 0)
		status = pthread_join(thread, NULL);
	print("thread", status);
	fflush(stdout);
	errno = SET;
	if (fork() == 0) {
		print("errno of a child", 0);
		blocks();
		fflush(stdout);
		_exit(0);
	}
	print("errno of its parent", 0);
	print("wait", wait(&status) > 0 && status == 0);
}

/* Executes a shell that ends with the number of its arguments, and VALUE. */
static void
execute(int how, const char *shell, int *fails)
{
	static char sh[] = "sh", c[] = "-c", text[] = "exit $(($# + VALUE))",
	            value[] = "VALUE=30";
	char *list[] = { sh, c, text, sh, sh, sh, NULL };
	char *own[] = { value, NULL };
	pid_t pid = 0;
	int status = 0;

	switch (how) {
	case 0: execl(shell, sh, c, text, sh, sh, NULL); break;
	case 1: execlp(shell, sh, c, text, sh, NULL); break;
	case 2: execle(shell, sh, c, text, sh, sh, sh, NULL, own); break;
	case 3: execv(shell, list); break;
	case 4: execvp(shell, list); break;
	case 5: execve(shell, list, own); break;
	case 6: execvpe(shell, list, own); break;
	case 7: fexecve(open(shell, O_RDONLY), list, own); break;
	case 8:
	case 9:
		*fails = (how == 8 ? posix_spawn :
		                     posix_spawnp)(how == 8 ? &pid : NULL,
		    shell, NULL, NULL, list, own);
		if (*fails == 0 && wait(&status) > 0)
			_exit(WEXITSTATUS(status) + (pid > 0));
		break;
	default: break;
	}
}

static void
executes(void)
{
	static const char *const shells[] = { "/bin/sh", "./none" };
	int i, fails, status;

	setenv("VALUE", "20", 1);
	for (i = 0; i < 20; i++) {
		printf("%d: ", i);
		fflush(stdout);
		fails = 0;
		errno = SET;
		if (fork() == 0) {
			execute(i / 2, shells[i % 2], &fails);
			print("failed", fails);
			fflush(stdout);
			_exit(9);
		}
		printf("%d\n", wait(&status) > 0 ? WEXITSTATUS(status) : -1);
	}
	fflush(stdout);
}

/* Users: those that the process has, and others, which only root may be. */
static void
users(void)
{
	uid_t user = getuid(), other = 4242;
	int i;

	fflush(stdout);
	errno = SET;
	print("setuid", setuid(user));
	print("seteuid", seteuid(user));
	print("setreuid", setreuid(user, (uid_t)-1));
	print("setresuid", setresuid((uid_t)-1, user, (uid_t)-1));
	fflush(stdout);
	for (i = 0; i < 4; i++) {
		if (fork() == 0) {
			print("change",
			    i == 0     ? setuid(other) :
			        i == 1 ? seteuid(other) :
			        i == 2 ? setreuid(other, other) :
			                 setresuid(other, other, user));
			print("user", getuid());
			print("effective", geteuid());
			print("back", seteuid(user));
			print("effective", geteuid());
			fflush(stdout);
			_exit(0);
		}
		(void)wait(NULL);
	}
}

int
main(int argc, char **argv)
{
	static char buffer[8192];
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *text = malloc(3 * page);
	FILE *file = argc > 1 ? fopen(argv[1], "w+") : NULL;

	if (file == NULL || text == NULL)
		return 1;
	memset(text, 'a', page);
	memset(text + page, 'b', page);
	memset(text + 2 * page, 'c', page);
	if (fwrite(text, page, 3, file) != 3 || fflush(file) != 0)
		return 1;
	/* which is no block */
	(void)setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	blocks();
	maps(fileno(file));
	others();
	executes();
	users();
	return 0;
}
