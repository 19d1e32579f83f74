/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the records of an inst log do: which event each one is, and whether it
 * has an effect by the rules of the instrumentation system.  A record that has
 * none becomes an event with the reason.
 */
#include "format/inst/inst.h"

#include <stdlib.h>

#define CODE1(a) ((uint32_t)(a))
#define CODE2(a, b) (CODE1(a) << 8 | (b))

/* The same where the rules say so, and nothing is wrong with the record. */
static void
turn_off(struct inst *s, const char *reason)
{
	(void)inst_ignore(s, reason);
	s->off = 1;
}

static tel_status
damaged(const char **why, const char *text)
{
	*why = text;
	return TEL_EDAMAGED;
}

void
tel__inst_clear(struct inst *s)
{
	tel__inst_tree_clear(&s->tree);
	for (uint32_t i = 0; i < s->ndescriptors; i++)
		free(s->descriptors[i].format);
	free(s->descriptors);
	tel__table_clear(&s->descriptor_ids);
	s->descriptors = NULL;
	s->ndescriptors = 0;
	s->descriptor_room = 0;
	s->descriptor_bytes = 0;
}

/* ------------------------------------------------------------ session */

/* The wall clock at the record's own clock. */
static void
take_wall(struct tel_reader *r, const struct inst *s)
{
	const struct inst_value *v = &s->line.values[I_WALL];

	if (inst_has(&s->line, I_WALL))
		tel__clock_set_wall(r->log.clock, s->line.clock, v->p, v->n);
}

/* "H inst 1 0 0": the version rule is that of the other formats. */
static tel_status
header(struct tel_reader *r, struct inst *s, const char **why)
{
	const struct inst_line *l = &s->line;
	struct inst_number n;

	if (l->nargs < 4 || !inst_is(&l->args[0], "inst"))
		return damaged(why, "inst and a version of three numbers");
	for (unsigned i = 0; i < 3; i++) {
		if (!tel__inst_integer(&l->args[1 + i], &n) || n.negative ||
		    n.over)
			return damaged(why,
			    "inst and a version of three numbers");
		s->version[i] = n.magnitude;
	}
	if (s->version[0] > 1 && !r->force)
		return tel__reader_fail(r, TEL_EVERSION,
		    "the log has version %llu.%llu.%llu; versions up to 1.x "
		    "are supported",
		    (unsigned long long)s->version[0],
		    (unsigned long long)s->version[1],
		    (unsigned long long)s->version[2]);
	if ((s->version[0] > 1 || s->version[1] > 0) && !(s->reported & 4)) {
		s->reported |= 4;
		tel__reader_notice(r, TEL_WARNING, s->text.offset,
		    "the log has version %llu.%llu.%llu and is read as 1.0.0",
		    (unsigned long long)s->version[0],
		    (unsigned long long)s->version[1],
		    (unsigned long long)s->version[2]);
	}
	tel__inst_clear(s);
	s->headed = 1;
	s->type = T_HEADER;
	if (tel__inst_unsigned(l, I_HZ) > 0 && r->tick_rate <= 0)
		tel__clock_set_rate(r->log.clock,
		    (double)tel__inst_unsigned(l, I_HZ));
	take_wall(r, s);
	return TEL_OK;
}

/* "K wall=": the first point that has a wall clock sets it. */
static void
inst_record_sync_point(struct tel_reader *r, struct inst *s)
{
	int64_t epoch;

	s->type = T_SYNC;
	if (!tel__clock_epoch(r->log.clock, &epoch))
		take_wall(r, s);
}

/* ------------------------------------------------------------ classes */

/*
 * The class that the record is of; 0 when the record has no effect; the event
 * then has the reason. *type is CLASS_TYPES where the class is not known.
 */
static int
find_class(struct tel_reader *r, struct inst *s, unsigned *type)
{
	s->class_id = tel__inst_unsigned(&s->line, I_C);
	*type = CLASS_TYPES;
	uint32_t at = tel__inst_class_of(&s->tree, s->class_id);
	if (at == INST_NO_CLASS) {
		if (s->class_id != 0 && !(s->reported & 8)) {
			s->reported |= 8;
			tel__reader_notice(r, TEL_WARNING, s->text.offset,
			    "the class %llu is not defined: its events are "
			    "shown without a path",
			    (unsigned long long)s->class_id);
		}
		return 1;
	}
	if (at == INST_BAD_CLASS) {
		(void)inst_ignore(s, "the class could not be defined");
		return 0;
	}
	const struct inst_class *c = tel__inst_class_check(&s->tree, at);
	s->class_at = at;
	s->path = c->path;
	s->path_length = c->path_length;
	s->class_id = c->id;
	*type = c->type;
	if (c->dead)
		turn_off(s, "the class was disposed of");
	return !c->dead;
}

/* The same for what a class has to be enabled for. */
static int
find_enabled(struct tel_reader *r, struct inst *s, unsigned *type)
{
	uint32_t at;

	if (!find_class(r, s, type))
		return 0;
	at = tel__inst_class_of(&s->tree, tel__inst_unsigned(&s->line, I_C));
	if (at == INST_NO_CLASS ? s->tree.root_off : !s->tree.classes[at].on) {
		turn_off(s, "the class is disabled");
		return 0;
	}
	return 1;
}

static tel_status
inst_record_change(struct tel_reader *r, struct inst *s, const char **why)
{
	const struct inst_value *op = &s->line.values[I_OP];
	uint64_t id = tel__inst_unsigned(&s->line, I_C);
	struct inst_class *c = NULL;
	unsigned type;

	if (!inst_has(&s->line, I_C) || !inst_has(&s->line, I_OP))
		return damaged(why, "c= and op=");
	if (inst_is(op, "enable"))
		s->type = T_ENABLE;
	else if (inst_is(op, "disable"))
		s->type = T_DISABLE;
	else if (inst_is(op, "dispose"))
		s->type = T_DISPOSE;
	else
		return damaged(why, "enable, disable or dispose");
	if (id == 0 && s->type == T_DISPOSE)
		return inst_ignore(s, "the root cannot be disposed of");
	if (!find_class(r, s, &type))
		return TEL_OK;
	uint32_t at = tel__inst_class_of(&s->tree, id);
	if (at < INST_BAD_CLASS)
		c = &s->tree.classes[at];
	else if (id != 0)
		return TEL_OK;
	if (s->type == T_DISPOSE)
		c->disposed = 1;
	else if (c != NULL)
		c->own = s->type == T_ENABLE;
	else
		s->tree.root_off = s->type == T_DISABLE;
	/* it does not wrap: each takes a line of the log */
	s->tree.generation++;
	return TEL_OK;
}

/* ------------------------------------------------------------- events */

/* Whether records like this are for a class of a type, if that is known. */
static int
inst_record_takes(unsigned type, unsigned what)
{
	return type >= CLASS_TYPES ||
	    (tel__inst_classes[type].takes & what) != 0;
}

static tel_status
trace(struct tel_reader *r, struct inst *s, const char **why)
{
	static const enum inst_type phases[2][4] = { { T_TRACE, T_START, T_END,
		                                         T_MIDDLE },
		{ T_TRACE_ON, T_START_ON, T_END_ON, T_MIDDLE_ON } };
	const struct inst_line *l = &s->line;
	struct inst_number n = { 0, 0, 0 };
	unsigned type;

	if (!inst_has(l, I_C))
		return damaged(why, "c=");
	if (inst_has(l, I_P) &&
	    (!tel__inst_integer(&l->values[I_P], &n) || n.negative || n.over ||
	        n.magnitude > 3))
		return damaged(why, "0 to 3 as p=");
	s->type = phases[inst_has(l, I_CPU) || inst_has(l, I_TID)][n.magnitude];
	if (!find_enabled(r, s, &type))
		return TEL_OK;
	if (!inst_record_takes(type, INST_TRACES))
		return inst_ignore(s, "the class is not a trace class");
	return TEL_OK;
}

static tel_status
inst_record_update(struct tel_reader *r, struct inst *s, const char **why)
{
	static const struct {
		const char *op;
		enum inst_type event;
		unsigned what;
	} ops[] = {
		{ "abs", T_UPDATE_SET, INST_SETS },
		{ "delta", T_UPDATE_ADD, INST_SETS },
		{ "inc", T_UPDATE_GROWTH, INST_GROWS },
		{ "hist", T_UPDATE_HISTOGRAM, INST_BUCKETS },
		{ "tally", T_UPDATE_TALLY, INST_KEYS },
	};
	const unsigned count = sizeof(ops) / sizeof(ops[0]);
	const struct inst_value *op = &s->line.values[I_OP];
	unsigned type, i;

	if (!inst_has(&s->line, I_C) || !inst_has(&s->line, I_OP) ||
	    !inst_has(&s->line, I_V))
		return damaged(why, "c=, op= and v=");
	for (i = 0; i < count && !inst_is(op, ops[i].op); i++)
		;
	if (i == count)
		return damaged(why, "abs, delta, inc, hist or tally");
	s->type = ops[i].event;
	if (find_enabled(r, s, &type) && !inst_record_takes(type, ops[i].what))
		return inst_ignore(s, "the class is of another type");
	return TEL_OK;
}

/*
 * What a snapshot of a class that is not defined is of, by its fields.  One
 * that could be of any class is not one of ours.
 */
static enum inst_type
guess(const struct inst_line *l)
{
	if (inst_has(l, I_CUR))
		return T_SNAP_MAGNITUDE;
	if (inst_has(l, I_OVFN))
		return T_SNAP_TALLY;
	if (inst_has(l, I_DIST))
		return T_SNAP_DISTINCT;
	if (inst_has(l, I_B) || inst_has(l, I_UNDER) || inst_has(l, I_OVF))
		return T_SNAP_HISTOGRAM;
	if (inst_has(l, I_PAIRS))
		return T_SNAP_SUMMARY;
	if (!inst_has(l, I_TOTAL))
		return T_OTHER;
	return inst_has(l, I_W) ? T_SNAP_RATIO : T_SNAP_GROWTH;
}

static tel_status
inst_record_snapshot(struct tel_reader *r, struct inst *s, const char **why)
{
	unsigned type;

	if (!inst_has(&s->line, I_C) || !inst_has(&s->line, I_N))
		return damaged(why, "c= and n=");
	if (!find_enabled(r, s, &type))
		return TEL_OK;
	s->type = type == CLASS_TYPES ? guess(&s->line) :
	                                tel__inst_classes[type].snapshot;
	if (s->type == T_IGNORED)
		return inst_ignore(s, "the class is not a statistic");
	return TEL_OK;
}

static tel_status
inst_record_bucket(struct tel_reader *r, struct inst *s, const char **why)
{
	const struct inst_line *l = &s->line;
	unsigned type, what = INST_KEYS;

	s->type = T_BUCKET;
	if (inst_has(l, I_B)) {
		s->type = T_BUCKETS;
		what = INST_BUCKETS;
	} else if (inst_has(l, I_POS)) {
		s->type = T_TOP_VALUE;
		what = INST_VALUES;
	}
	if (!inst_has(l, I_C) || (s->type != T_BUCKETS && !inst_has(l, I_V)) ||
	    (s->type == T_BUCKET && !inst_has(l, I_K)))
		return damaged(why, "c=, k= and v=, or c= and b=");
	if (find_enabled(r, s, &type) && type != CLASS_OTHER &&
	    !inst_record_takes(type, what))
		return inst_ignore(s, "the class is of another type");
	return TEL_OK;
}

static tel_status
lost(struct tel_reader *r, struct inst *s, const char **why)
{
	uint64_t n = tel__inst_unsigned(&s->line, I_N);
	unsigned type;

	if (!inst_has(&s->line, I_N))
		return damaged(why, "n=");
	s->type = T_LOST;
	if (inst_has(&s->line, I_C) && !find_class(r, s, &type))
		s->type = T_LOST; /* of whatever class */
	if (__builtin_add_overflow(s->lost, n, &s->lost))
		s->lost = UINT64_MAX;
	return TEL_OK;
}

/*
 * Checks that the parameters are numbers where they must be; the fields of the
 * event itself are checked when it is made.
 */
static int
numbers_valid(const struct inst_line *l)
{
	static const uint64_t keys = (uint64_t)1 << I_C |
	    (uint64_t)1 << I_PARENT | (uint64_t)1 << I_D |
	    (uint64_t)1 << I_OVF | (uint64_t)1 << I_UNDER |
	    (uint64_t)1 << I_OVER | (uint64_t)1 << I_EN | (uint64_t)1 << I_TAG;
	uint64_t left = l->present & keys;
	struct inst_number n;

	for (; left != 0; left &= left - 1) {
		const struct inst_value *v = &l->values[__builtin_ctzll(left)];

		if (!v->decimal && (!tel__inst_integer(v, &n) || n.over))
			return 0;
	}
	return 1;
}

tel_status
tel__inst_follow(struct tel_reader *r, struct inst *s, const char **why)
{
	if (!numbers_valid(&s->line))
		return damaged(why,
		    "numbers for c=, tag=, parent=, en=, d= and counts");
	s->path = "";
	s->path_length = 0;
	s->class_id = 0;
	s->class_at = INST_NO_CLASS;
	s->off = 0;
	switch (s->line.code) {
	case CODE1('E'): return trace(r, s, why);
	case CODE1('U'): return inst_record_update(r, s, why);
	case CODE1('S'): return inst_record_snapshot(r, s, why);
	case CODE2('S', 'B'): return inst_record_bucket(r, s, why);
	case CODE1('C'): return tel__inst_define(r, s, why);
	case CODE1('D'): return tel__inst_describe(r, s, why);
	case CODE1('X'): return inst_record_change(r, s, why);
	case CODE1('H'): return header(r, s, why);
	case CODE1('K'): inst_record_sync_point(r, s); break;
	case CODE1('L'): return lost(r, s, why);
	case CODE1('Z'): s->type = T_FINISH; break;
	case CODE1('R'): s->type = T_REPORT; break;
	case CODE1('W'): s->type = T_ORIGIN; break;
	default:
		s->type = T_OTHER;
		r->count[TEL_COUNT_UNKNOWN]++;
		break;
	}
	return TEL_OK;
}
