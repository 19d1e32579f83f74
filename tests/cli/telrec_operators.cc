// SPDX-License-Identifier: BSD-2-Clause
// Operators new and delete, for telrec to record: the first argument says how.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <string>
#include <thread>
#include <vector>

static void *volatile kept;

struct alignas(256) Large {
	char bytes[71680];
};
struct alignas(512) Larger {
	char bytes[72704];
};

// Each form; the sizes are those of no other allocation.
static void
forms()
{
	const std::align_val_t alignment = std::align_val_t(128);
	void *p;

	p = kept = ::operator new(70001);
	::operator delete(p);
	p = kept = ::operator new[](70002);
	::operator delete[](p);
	p = kept = ::operator new(70003);
	::operator delete(p, std::size_t(70003));
	p = kept = ::operator new[](70004);
	::operator delete[](p, std::size_t(70004));
	p = kept = ::operator new(70005, std::nothrow);
	::operator delete(p, std::nothrow);
	p = kept = ::operator new[](70006, std::nothrow);
	::operator delete[](p, std::nothrow);
	p = kept = ::operator new(70007, alignment);
	::operator delete(p, alignment);
	p = kept = ::operator new[](70008, alignment);
	::operator delete[](p, alignment);
	p = kept = ::operator new(70009, alignment);
	::operator delete(p, 70009, alignment);
	p = kept = ::operator new[](70010, alignment);
	::operator delete[](p, 70010, alignment);
	p = kept = ::operator new(70011, alignment, std::nothrow);
	::operator delete(p, alignment, std::nothrow);
	p = kept = ::operator new[](70012, alignment, std::nothrow);
	::operator delete[](p, alignment, std::nothrow);
	Large *large = new Large;
	kept = large;
	delete large;
	Larger *array = new Larger[3];
	kept = array;
	delete[] array;
	::operator delete(nullptr);
	::operator delete[](nullptr, std::size_t(1));
}

#ifndef MODULE
// Memory that there is not.
static int
failures()
{
	// more than any address space has, also one of 32 bits
	volatile std::size_t n = SIZE_MAX - 65536;
	int caught = 0;

	try {
		kept = ::operator new(n);
	} catch (const std::bad_alloc &) {
		caught++;
	}
	try {
		kept = ::operator new[](n, std::align_val_t(64));
	} catch (const std::bad_alloc &) {
		caught++;
	}
	caught += ::operator new(n, std::nothrow) == nullptr;
	forms();
	return caught != 3;
}
#endif

// Of a size that nothing else here has, with any size of pointers.
struct Small {
	char bytes[7];
};

static void
pairs()
{
	std::string text;

	for (int i = 0; i < 30; i++) {
		std::vector<Small *> all;
		for (int k = 0; k < 10; k++)
			all.push_back(new Small());
		for (Small *p : all)
			delete p;
		text += "0123456789";
		kept = std::malloc(100);
		std::free(kept);
	}
}

static void
threads()
{
	std::vector<std::thread> all;

	for (int i = 0; i < 4; i++)
		all.emplace_back(pairs);
	for (std::thread &t : all)
		t.join();
}

extern "C" void run_forms();

#ifdef MODULE
void
run_forms()
{
	forms();
	threads();
}
#else
// A module of this file, which is loaded late.
static int
load(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*run)() = nullptr;

	if (handle == nullptr) {
		std::fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*reinterpret_cast<void **>(&run) = dlsym(handle, "run_forms");
	if (run == nullptr)
		return 1;
	run();
	return 0;
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (std::strcmp(how, "forms") == 0)
		forms();
	else if (std::strcmp(how, "failures") == 0)
		return failures();
	else if (std::strcmp(how, "threads") == 0)
		threads();
	else if (std::strcmp(how, "load") == 0)
		return load(argv[2]);
	return 0;
}
#endif
