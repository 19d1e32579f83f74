/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that emits with an installed libtel-emit, in C and in C++; and
 * with WRONG_..., one that a compiler must refuse.
 */
#include <tel_emit.h>

#ifdef WRONG_NUMBER
#define OTHER 30
#else
#define OTHER 1
#endif
#ifdef WRONG_KIND
#define GREETING_NUMBER 1
#else
#define GREETING_NUMBER 0
#endif
#define DEMO_KINDS(KIND, X) \
	KIND(X, Greeting, GREETING_NUMBER, "what people say") \
	KIND(X, Inside, OTHER, "what happens inside")

#ifdef WRONG_CODE
#define DETAIL 0x1001
#else
#define DETAIL 0x1002
#endif
#define DEMO_EVENTS(EVENT, X) \
	EVENT(X, Hello, 0x1001, 1, Greeting, "a greeting") \
	EVENT(X, Detail, DETAIL, 0, Inside, "a detail")

#ifdef WRONG_INDEX
#define SECOND 2
#else
#define SECOND 1
#endif
#ifdef WRONG_STRING
#define EVENT_Hello_PARAMS(PARAM, X) \
	PARAM(X, 0, S, text, "", "to whom", "") \
	PARAM(X, 1, U, who, "", "by whom", "")
#else
#define EVENT_Hello_PARAMS(PARAM, X) \
	PARAM(X, 0, U, who, "", "by whom", "") \
	PARAM(X, SECOND, S, text, "", "to whom", "")
#endif
#ifdef WRONG_LETTER
#define EVENT_Detail_PARAMS(PARAM, X) PARAM(X, 0, Q, n, "", "a number", "")
#else
#define EVENT_Detail_PARAMS(PARAM, X) PARAM(X, 0, W, n, "", "a number", "")
#endif

TEL_EVENTS(DEMO)
TEL_EVENTS_DEFINE(DEMO, "demo", 1, 0, 0)

int
main(int argc, char **argv)
{
	tel_emit_options options = { NULL, 0, 0, NULL, 0, 0, 0 };

	if (argc < 2)
		return 2;
	if (argc > 2)
		options.ring_file = argv[2];
	if (tel_emit_open(&options, &tel_list_DEMO) != 0 ||
	    tel_control_text("all") != 0 ||
	    tel_emit_to_file(argv[1], ~0u, 0) == NULL)
		return 1;
#ifdef WRONG_TYPE
	TEL_EVENT2(Hello, argv, "world");
#elif defined(WRONG_COUNT)
	TEL_EVENT1(Hello, 7);
#else
	TEL_EVENT2(Hello, 7, "world");
#endif
	TEL_EVENT1(Detail, 8);
	tel_emit_close();
	return tel_emit_lost() != 0;
}
