/* SPDX-License-Identifier: BSD-2-Clause */
/* Listing: the ops of a filter's program as lines of text. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "query/program.h"
#include "query/token.h"

#define BIAS ((uint64_t)1 << 63)

/* What .sub and .u of an op are. */
enum operand {
	OPERAND_NONE,
	OPERAND_SPAN,
	OPERAND_SPAN_OPERATOR,
	OPERAND_SET,
	OPERAND_LABEL,
	OPERAND_NODE,
	OPERAND_OPERATOR,
	OPERAND_VALUE,
	OPERAND_BUILTIN,
	OPERAND_DERIVED
};

static const struct op_text {
	const char *name;
	enum operand operand;
} texts[] = {
#define OP(code, name, operand, takes, leaves, ranges) \
	{ name, OPERAND_##operand },
	TEL__TESTS(OP) TEL__LEAVES(OP) TEL__OPERATORS(OP)
#undef OP
};

struct listing {
	char *buffer;
	size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void
listing_add(struct listing *l, const char *format, ...)
{
	const size_t room = l->length < l->size ? l->size - l->length : 0;
	va_list args;

	va_start(args, format);
	int n = vsnprintf(room > 0 ? l->buffer + l->length : NULL, room, format,
	    args);
	va_end(args);
	if (n > 0)
		l->length += (size_t)n;
}

static void
listing_add_value(struct listing *l, const struct value *v)
{
	switch (v->tag) {
	case V_MISSING: listing_add(l, " nothing"); break;
	case V_NATURAL: listing_add(l, " %" PRIu64, v->as.u); break;
	case V_NEGATIVE: listing_add(l, " %" PRId64, (int64_t)v->as.u); break;
	case V_DOUBLE: listing_add(l, " %.17g", v->as.d); break;
	case V_STRING:
		listing_add(l, " \"%.*s\"", (int)v->length, v->as.s);
		break;
	}
}

static void
add_span(struct listing *l, const struct op *op)
{
	const struct span_test *t = &op->u.span;
	const uint64_t last = t->lo + t->span;

	if (op->code == OP_SPAN_OPERATOR)
		listing_add(l, " %s %" PRIu64,
		    tel__operator_text((enum value_op)op->sub), t->mask);
	else if (t->mask != UINT64_MAX)
		listing_add(l, " & 0x%" PRIx64, t->mask);
	listing_add(l, op->want ? " in" : " not in");
	if (op->code == OP_SPAN_NS || op->code == OP_SPAN_TICKS)
		listing_add(l, " %" PRId64 "..%" PRId64,
		    (int64_t)(t->lo - BIAS), (int64_t)(last - BIAS));
	else
		listing_add(l, " %" PRIu64 "..%" PRIu64, t->lo, last);
}

static void
add_set(struct listing *l, const struct set *set)
{
	for (size_t i = 0; i < set->count; i++)
		listing_add(l, "%s%" PRIu64 "..%" PRIu64,
		    i == 0 ? " in " : ", ", set->spans[i].lo, set->spans[i].hi);
}

static void
add_operand(struct listing *l, const struct op *op, enum operand operand)
{
	const struct label_test *label = &op->u.label;

	switch (operand) {
	case OPERAND_NONE: break;
	case OPERAND_SPAN:
	case OPERAND_SPAN_OPERATOR: add_span(l, op); break;
	case OPERAND_SET: add_set(l, op->u.set); break;
	case OPERAND_LABEL:
		listing_add(l, op->want ? " is" : " is not");
		if (label->glob != NULL)
			listing_add(l, " like \"%s\"", label->glob->text);
		else
			listing_add(l, " as in column %u", label->node->column);
		break;
	case OPERAND_NODE:
		listing_add(l, " as in column %u", op->u.node->column);
		break;
	case OPERAND_OPERATOR:
		listing_add(l, " %s",
		    tel__operator_text((enum value_op)op->sub));
		if (op->constant)
			listing_add_value(l, &op->u.value);
		break;
	case OPERAND_VALUE: listing_add_value(l, &op->u.value); break;
	case OPERAND_BUILTIN:
		listing_add(l, " %s", tel__builtin_name((enum builtin)op->sub));
		break;
	case OPERAND_DERIVED:
		listing_add(l, " %s", tel__derived_name((enum derived)op->sub));
		break;
	}
}

static void
add_target(struct listing *l, uint32_t at, uint32_t entry)
{
	if (at >= GO_ACCEPT)
		listing_add(l, at == GO_ACCEPT ? "accept" : "reject");
	else
		listing_add(l, "%" PRIu32, at - entry);
}

size_t
tel__program_text(const struct program *p, size_t i, char *buffer, size_t size)
{
	struct listing l = { buffer, size, 0 };

	if (size > 0)
		buffer[0] = '\0';
	if (p->entry >= GO_ACCEPT || i >= p->count - p->entry)
		return 0;
	const struct op *op = &p->ops[p->entry + i];
	listing_add(&l, "%zu: %s", i, texts[op->code].name);
	if (op->field != NULL)
		listing_add(&l, " %s", op->field->name);
	add_operand(&l, op, texts[op->code].operand);
	if (!op_is_test(op))
		return l.length;
	if (op->code == OP_TEST || op->code == OP_TEST_COMPARE ||
	    op->code == OP_LABELS)
		listing_add(&l, " is %s", op->want ? "true" : "false");
	listing_add(&l, " ? ");
	add_target(&l, op->yes, p->entry);
	listing_add(&l, " : ");
	add_target(&l, op->no, p->entry);
	return l.length;
}
