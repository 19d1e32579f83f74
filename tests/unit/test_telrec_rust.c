/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of Rust, as `c++filt -s rust` prints them, without hashes and types. */
#include <stdlib.h>
#include <string.h>

#include "telrec/rust.c"

#include "tap.h"

static const struct {
	const char *symbol;
	const char *name; /* NULL: none */
} names[] = {
	{ "_RNvCs6DXkGYLi8lr_2cc5spawn", "cc::spawn" },
	{ "_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_",
	    "cc::spawn::{closure#0}::{closure#0}" },
	{ "_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8"
	  "iterator8Iterator9rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_",
	    "<core::slice::Iter<u8> as core::iter::iterator::Iterator>::"
	    "rposition::<core::slice::memchr::memrchr::{closure#1}>::"
	    "{closure#0}" },
	{ "_RNSYFEuNvC1a1f9call_onceC1a",
	    "<fn() as a::f>::{shim:call_once#0}" },
	{ "_RINvC1a1fRSeQhPjOlA3_mE", NULL },
	{ "_RINvC1a1fRSeQhPjOlAmj3_E",
	    "a::f::<&[str], &mut u8, *const usize, *mut i32, [u32; 3]>" },
	{ "_RINvC1a1fTETaETstxyEbcdfinopuvzE",
	    "a::f::<(), (i8,), (i16, u16, i64, u64), bool, char, f64, f32, "
	    "isize, i128, u128, _, (), ..., !>" },
	{ "_RINvC1a1fKb0_Kb1_Kc76_Kca_Kan7f_Kj_KpB9_E", NULL },
	{ "_RINvC1a1fKb0_Kb1_Kc76_Kca_Kan7f_Kj_KpKB8_E",
	    "a::f::<false, true, 'v', '\\u{a}', -127, 0, _, false>" },
	{ "_RINvC1a1fKo123456789abcdef01_E", "a::f::<0x123456789abcdef01>" },
	{ "_RINvC1a1fKo123456789abcdef0_E", "a::f::<1311768467463790320>" },
	{ "_RMC0FG0_RL0_hRL1_hEu", "<for<'a, 'b> fn(&'b u8, &'a u8)>" },
	{ "_RMC0FG_RL0_hRL1_hEu", NULL },
	{ "_RMC0RL_h", "<&u8>" },
	{ "_RMC0FUKCtEm", "<unsafe extern \"C\" fn(u16) -> u32>" },
	{ "_RMC0FK5c_abiEu", "<extern \"c-abi\" fn()>" },
	{ "_RMC0DNtC1a1tp1AhNtC1a1uEL_", "<dyn a::t<A = u8> + a::u>" },
	{ "_RMC0DINtC1a1thEp1AhEL_", "<dyn a::t<u8, A = u8>>" },
	{ "_RMC0DINtINtC1a1thE1uhEEL_", "<dyn a::t<u8>::u<u8>>" },
	{ "_RMC0DINtC1a1thEp1AhEL0_", NULL },
	{ "_RMC0DG_INtC1a1thEp1AhEL_", "<dyn for<'a> a::t<u8, A = u8>>" },
	{ "_RMC0TDINtC1a1tL_EEL_DB4_p1AhEL_E",
	    "<(dyn a::t<'_>, dyn a::t<'_, A = u8>)>" },
	{ "_RNvC1au3b_c", "a::punycode{b_c}" },
	{ "_RNvC1a1b.llvm.123", "a::b" },
	{ "_RNvC1a3__b", NULL },
	{ "_RNvC1a2__b", "a::_b" },
	{ "_RNvC1a1bx", NULL },
	{ "_RNvC1a9b", NULL },
	{ "_RNvB_1b", NULL },
	{ "_RINvC1a1bTB8_B8_EE", NULL },
	{ "_RNvC1a", NULL },
	{ "_R", NULL },
	{ "_ZN4core3fmt17h0123456789abcdefE", "core::fmt" },
	{ "_ZN4core3fmt17h0123456789abcdeFE", NULL },
	{ "_ZN4core3fmtE", NULL },
	{ "_ZN4core3fmt17h0123456789abcdef", NULL },
	{ "_ZN48_$LT$$RF$a..B$u20$as$u20$$LP$$BP$D$C$E$RP$.e$GT$"
	  "3new28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
	    "<&a::B as (*D,E).e>::new::{{closure}}" },
	{ "_ZN5a$XX$17h0123456789abcdefE", NULL },
	{ "_ZN3a$L17h0123456789abcdefE", NULL },
	{ "_ZN5a$u1$17h0123456789abcdefE", NULL },
	{ "main", NULL },
};

static void
test_names(void)
{
	char text[400];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *want = names[i].name == NULL ? "" : names[i].name;

		text[0] = '\0';
		size_t n = rust_demangle(names[i].symbol, text, sizeof(text));
		is_u64(n, strlen(want), "%s: %s", names[i].symbol, want);
		ok(strncmp(text, want, n) == 0, "%s", n > 0 ? text : "no name");
	}
}

/* Symbols that would take all of the stack, all time, or more than the room. */
static void
test_limits(void)
{
	static const char *const deep[] = { "R", "S", "T", "IC1a", "NvC",
		"FR" };
	char *symbol = malloc(300008), text[10] = "";
	size_t n, i, at;

	for (i = 0; symbol != NULL && i < sizeof(deep) / sizeof(deep[0]); i++) {
		n = strlen(deep[i]);
		memcpy(symbol, "_RMC0", 6);
		for (at = 5; at + n < 300000; at += n)
			memcpy(symbol + at, deep[i], n + 1);
		(void)rust_demangle(symbol, text, sizeof(text));
		ok(memchr(text, '\0', sizeof(text)) != NULL, "%s in itself: %s",
		    deep[i], text);
	}
	free(symbol);
	n = rust_demangle("_RNvC5crate8function", text, sizeof(text));
	is_u64(n, sizeof(text) - 1, "a long name fills the room");
	ok(strcmp(text, "crate::fu") == 0, "with its start: %s", text);
}

int
main(void)
{
	test_names();
	test_limits();
	return done();
}
