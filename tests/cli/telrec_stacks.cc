/* SPDX-License-Identifier: BSD-2-Clause */
/* A program whose allocations have known stacks, and sizes that tell them. */
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
/* Something to do after a call, so that it does not become a jump. */
#define STAY __asm__ volatile("" ::: "memory")

static void *volatile kept;

static inline __attribute__((always_inline)) void
take(size_t n)
{
	kept = malloc(n);
	STAY;
}

NOINLINE void
recurse(int n)
{
	if (n == 0)
		take(1001);
	else
		recurse(n - 1);
	STAY;
}

namespace space
{
template <typename T> struct Box {
	NOINLINE void fill(T n)
	{
		take((size_t)n);
	}
};
} // namespace space

NOINLINE void
on_signal(int)
{
	take(1003);
}

NOINLINE void *
run_thread(void *)
{
	take(1004);
	return nullptr;
}

/* As rustc names cc::spawn. */
void in_child() __asm__("_RNvCs6DXkGYLi8lr_2cc5spawn");

NOINLINE void
in_child()
{
	take(1005);
}

NOINLINE void
in_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	auto grab = library == nullptr ?
	    nullptr :
	    (void (*)(size_t))dlsym(library, "library_grab");

	if (grab != nullptr)
		grab(1006);
	STAY;
}

int
main(int argc, char **argv)
{
	pthread_t thread;
	pid_t child;

	recurse(3);
	recurse(500);
	space::Box<long>().fill(1002);
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	if (pthread_create(&thread, nullptr, run_thread, nullptr) == 0)
		pthread_join(thread, nullptr);
	child = fork();
	if (child == 0) {
		in_child();
		_exit(0);
	}
	waitpid(child, nullptr, 0);
	if (argc > 1)
		in_library(argv[1]);
	return 0;
}
