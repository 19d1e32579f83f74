/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of functions: without lists, without types, and those of allocators. */
#include "base/function.h"
#include "model/allocator.h"
#include "tap.h"

static const struct row {
	const char *name, *is, *own;
	int allocator;
} rows[] = {
	{ "main", "main", "main", 0 },
	{ "malloc", "malloc", "malloc", 1 },
	{ "ins(std::unique_ptr<Node, std::default_delete<Node> >&, int)", "ins",
	    "ins", 0 },
	{ "Table<std::string>::add(std::string const&) const &",
	    "Table::add const &", "Table::add const &", 0 },
	{ "std::vector<int, std::allocator<int> > sort<int>(std::span<int>)",
	    "std::vector sort", "sort", 0 },
	{ "std::string const& parse<char>(char)", "std::string const& parse",
	    "parse", 0 },
	{ "unsigned long std::__distance<char*>(char*)",
	    "unsigned long std::__distance", "std::__distance", 1 },
	{ "std::vector<int>::_M_realloc_insert<int>(int)",
	    "std::vector::_M_realloc_insert", "std::vector::_M_realloc_insert",
	    1 },
	{ "operator new(unsigned long)", "operator new", "operator new", 1 },
	{ "Pool::operator new[](unsigned long) [clone .cold]",
	    "Pool::operator new[] [clone .cold]",
	    "Pool::operator new[] [clone .cold]", 1 },
	{ "std::ostream& operator<< <char>(std::ostream&, S<char>)",
	    "std::ostream& operator<< <char>", "operator<< <char>", 0 },
	{ "Key::operator()(std::string) const", "Key::operator() const",
	    "Key::operator() const", 0 },
	{ "main::{lambda(std::string)#1}::operator()(std::string) const",
	    "main::{lambda#1}::operator() const",
	    "main::{lambda#1}::operator() const", 0 },
	{ "f(int)::'lambda'(std::string)::operator()(std::string) const",
	    "f::'lambda'::operator() const", "f::'lambda'::operator() const",
	    0 },
	{ "Key::operator std::string() const",
	    "Key::operator std::string const",
	    "Key::operator std::string const", 0 },
	{ "void (anonymous namespace)::f<std::less<int> >()",
	    "void (anonymous namespace)::f", "(anonymous namespace)::f", 0 },
	{ "std::enable_if<((sizeof (int))>(2)), int*>::type app::g<int>(int)",
	    "std::enable_if::type app::g", "app::g", 0 },
	{ "app::Q<(sizeof (int))<(2)> app::make<int>(int)", "app::Q app::make",
	    "app::make", 0 },
	{ "std::array<int, (2) << (3)> app::make<int>()",
	    "std::array app::make", "app::make", 0 },
	{ "app::Q<(2)<=(3)>::get()", "app::Q::get", "app::Q::get", 0 },
	{ "Map<(Kind)1>::f<&Key::operator< >()", "Map::f", "Map::f", 0 },
	{ "posix_memalign", "posix_memalign", "posix_memalign", 1 },
	{ "<fn(usize) -> r::X as r::Allocs>::go",
	    "<fn -> r::X as r::Allocs>::go", "<fn -> r::X as r::Allocs>::go",
	    0 },
	{ "<map::Map<alloc::string::String> as "
	  "From<alloc::vec::Vec<u8>>>::from",
	    "<map::Map as From>::from", "<map::Map as From>::from", 0 },
	{ "<alloc::vec::Vec<T> as core::iter::FromIterator>::from_iter",
	    "<alloc::vec::Vec as core::iter::FromIterator>::from_iter",
	    "<alloc::vec::Vec as core::iter::FromIterator>::from_iter", 1 },
	{ "<r::Rec as core::clone::Clone>::clone",
	    "<r::Rec as core::clone::Clone>::clone",
	    "<r::Rec as core::clone::Clone>::clone", 0 },
	{ "<r::Heap as core::alloc::GlobalAlloc>::alloc",
	    "<r::Heap as core::alloc::GlobalAlloc>::alloc",
	    "<r::Heap as core::alloc::GlobalAlloc>::alloc", 1 },
	{ "<u64 as core::fmt::Display>::fmt",
	    "<u64 as core::fmt::Display>::fmt",
	    "<u64 as core::fmt::Display>::fmt", 1 },
	{ "<u64 as r::Load>::load::<alloc::vec::Vec<u8>>",
	    "<u64 as r::Load>::load", "<u64 as r::Load>::load", 0 },
	{ "<alloc::vec::Vec<T> as r::Load>::load",
	    "<alloc::vec::Vec as r::Load>::load",
	    "<alloc::vec::Vec as r::Load>::load", 0 },
	{ "<[u8]>::to_vec", "<[u8]>::to_vec", "<[u8]>::to_vec", 1 },
	{ "<r::Pod as <[_]>::to_vec_in::ConvertVec>::to_vec",
	    "<r::Pod as <[_]>::to_vec_in::ConvertVec>::to_vec",
	    "<r::Pod as <[_]>::to_vec_in::ConvertVec>::to_vec", 1 },
	{ "<r::Pod as alloc::string::ToString>::to_string",
	    "<r::Pod as alloc::string::ToString>::to_string",
	    "<r::Pod as alloc::string::ToString>::to_string", 1 },
	{ "<r::Waker as alloc::task::Wake>::wake",
	    "<r::Waker as alloc::task::Wake>::wake",
	    "<r::Waker as alloc::task::Wake>::wake", 0 },
	{ "<r::Gen as core::iter::traits::iterator::Iterator>::collect::<V>",
	    "<r::Gen as core::iter::traits::iterator::Iterator>::collect",
	    "<r::Gen as core::iter::traits::iterator::Iterator>::collect", 1 },
	{ "<r::Gen as core::iter::traits::iterator::Iterator>::next",
	    "<r::Gen as core::iter::traits::iterator::Iterator>::next",
	    "<r::Gen as core::iter::traits::iterator::Iterator>::next", 0 },
	{ "<r::Gen as "
	  "core::iter::traits::iterator::Iterator>::next::{closure#0}",
	    "<r::Gen as "
	    "core::iter::traits::iterator::Iterator>::next::{closure#0}",
	    "<r::Gen as "
	    "core::iter::traits::iterator::Iterator>::next::{closure#0}",
	    0 },
	{ "<r::Gen as core::iter::traits::iterator::Iterator>::next_chunk",
	    "<r::Gen as core::iter::traits::iterator::Iterator>::next_chunk",
	    "<r::Gen as core::iter::traits::iterator::Iterator>::next_chunk",
	    1 },
	{ "<r::Src as std::io::Read>::read_to_end",
	    "<r::Src as std::io::Read>::read_to_end",
	    "<r::Src as std::io::Read>::read_to_end", 1 },
	{ "<r::Src as std::io::Read>::read", "<r::Src as std::io::Read>::read",
	    "<r::Src as std::io::Read>::read", 0 },
	{ "<r::Dst as std::io::Write>::flush",
	    "<r::Dst as std::io::Write>::flush",
	    "<r::Dst as std::io::Write>::flush", 0 },
	{ "<r::Pod as core::convert::Into<r::Key>>::into",
	    "<r::Pod as core::convert::Into>::into",
	    "<r::Pod as core::convert::Into>::into", 1 },
	{ "<r::Key as core::convert::From<r::Pod>>::from",
	    "<r::Key as core::convert::From>::from",
	    "<r::Key as core::convert::From>::from", 0 },
	{ "<[r::Key]>::to_vec", "<[r::Key]>::to_vec", "<[r::Key]>::to_vec", 1 },
	{ "<&mut [r::Key] as core::clone::Clone>::clone",
	    "<&mut [r::Key] as core::clone::Clone>::clone",
	    "<&mut [r::Key] as core::clone::Clone>::clone", 1 },
	{ "<(r::A, r::B) as core::clone::Clone>::clone",
	    "<(r::A, r::B) as core::clone::Clone>::clone",
	    "<(r::A, r::B) as core::clone::Clone>::clone", 1 },
	{ "<[r::Key] as r::Load>::load", "<[r::Key] as r::Load>::load",
	    "<[r::Key] as r::Load>::load", 0 },
	{ "<&r::Key as core::ops::arith::Add>::add",
	    "<&r::Key as core::ops::arith::Add>::add",
	    "<&r::Key as core::ops::arith::Add>::add", 0 },
	{ "<dyn r::Load>::helper", "<dyn r::Load>::helper",
	    "<dyn r::Load>::helper", 0 },
	{ "core::clone::Clone::clone", "core::clone::Clone::clone",
	    "core::clone::Clone::clone", 1 },
	{ "core::iter::traits::iterator::Iterator::collect",
	    "core::iter::traits::iterator::Iterator::collect",
	    "core::iter::traits::iterator::Iterator::collect", 1 },
	{ "core::Engine::run", "core::Engine::run", "core::Engine::run", 0 },
	{ "r::main::{{closure}}", "r::main::{{closure}}",
	    "r::main::{{closure}}", 0 },
	{ "<unknown>", "<unknown>", "<unknown>", 0 },
	{ "<lambda(int)>::operator()(int) const", "<lambda>::operator() const",
	    "<lambda>::operator() const", 0 },
	{ "main()::<lambda(int)>::_FUN", "main::<lambda>::_FUN",
	    "main::<lambda>::_FUN", 0 },
	{ "<T as alloc::Make>::make", "<T as alloc::Make>::make",
	    "<T as alloc::Make>::make", 1 },
	{ "<app::T as allocator::Make>::make",
	    "<app::T as allocator::Make>::make",
	    "<app::T as allocator::Make>::make", 0 },
	{ "::<T>f", "::<T>f", "::<T>f", 0 },
	{ "main.(*T).Push", "main.(*T).Push", "main.(*T).Push", 0 },
	{ "int java.util.ArrayList.<init>(int)",
	    "int java.util.ArrayList.<init>", "java.util.ArrayList.<init>", 1 },
	{ "java/util/HashMap.resize:702", "java/util/HashMap.resize:702",
	    "java/util/HashMap.resize:702", 1 },
	{ "javac.Main.run", "javac.Main.run", "javac.Main.run", 0 },
	{ "f(std::string", "f", "f", 0 },
	{ "", "", "", 0 },
};

int
main(void)
{
	char out[128];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		const size_t n = strlen(row->name);
		size_t length =
		    tel__function_shorten(row->name, n, out, sizeof(out) - 1);

		out[length] = '\0';
		is_str(out, row->is, "%s", row->name);
		is_str(tel__function_start(out, length), row->own,
		    "the start of %s", row->name);
		ok(tel__is_allocator(row->name, n) == row->allocator,
		    "%s is %s", row->name,
		    row->allocator ? "of an allocator" : "a holder");
		for (size_t room = 0; room < length; room++)
			if (tel__function_shorten(row->name, n, out, room) !=
			        room ||
			    strncmp(out, row->is, room) != 0) {
				ok(0, "%s in %zu bytes", row->name, room);
				break;
			}
	}
	return done();
}
