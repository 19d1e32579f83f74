/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Splitting an archive: its members come one after the other, and to read
 * them side by side each must be kept.  And closing files that are read side by
 * side until it is their turn.
 */
#include "base/buffer.h"
#include "format/logs.h"
#include "format/reader.h"
#include "io/fileset.h"
#include "io/spool.h"
#include "model/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The most readers of members, which are read side by side. */
#define SPLIT_MAX 16384u

int
tel_reader_archive(const tel_reader *r)
{
	return tel__reader_is_archive(r);
}

/* A reader with the options of r. */
static struct tel_reader *
like(struct tel_reader *r)
{
	struct tel_reader *copy = tel_reader_new();
	const struct tel_sidecar *file;

	if (copy == NULL)
		return NULL;
	copy->force = r->force;
	copy->strict = r->strict;
	copy->max_labels = r->max_labels;
	copy->threads = r->threads;
	copy->read_size = r->read_size;
	copy->notify = r->notify;
	copy->notify_arg = r->notify_arg;
	copy->tick_rate = r->tick_rate;
	copy->parent = r;
	tel_status st = tel__reader_share(copy, r);
	if (st == TEL_OK)
		st = tel_reader_set_as(copy, r->as);
	for (file = r->sidecars; st == TEL_OK && file != NULL;
	     file = file->next)
		st = tel__reader_add_sidecar(copy, file->kind, file->path);
	if (st == TEL_OK)
		return copy;
	tel_reader_free(copy);
	return NULL;
}

/* Keeps what a decoder has read of a member to open it.  TEL_OK, TEL_ENOMEM. */
static tel_status
keep_opened(struct tel_reader *r, struct tel_member *part, int *failed)
{
	struct tel__buffer b = { 0 };
	tel_status st = TEL_OK;

	if (r->format->opened == NULL)
		return TEL_OK;
	tel__input_consume(r->in, r->peeked - (size_t)(r->end - r->p));
	r->format->opened(r, &b);
	if (b.failed)
		st = tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	else
		*failed = tel__spool_write(r->spool, b.bytes, b.used);
	part->size = (int64_t)b.used;
	tel__buffer_clear(&b);
	return st;
}

static tel_status
split_fail(struct tel_reader *r, int number)
{
	struct tel_fault fault;

	tel__spool_fault(&fault, number);
	return tel__reader_fail(r, TEL_EIO, "%s", fault.text);
}

/* Copies the member into the file of all members. */
static tel_status
format_split_keep(struct tel_reader *r, struct tel_member *part)
{
	int64_t rest = 0;
	int failed = 0;

	/* a log of several files is in r->set, with all that was left */
	part->files = r->format->claims != NULL;
	if (part->files)
		return TEL_OK;
	if (r->spool < 0 && (r->spool = tel__spool_file()) < 0)
		return split_fail(r, errno);
	part->start = r->spooled;
	tel_status st = keep_opened(r, part, &failed);
	if (st != TEL_OK)
		return st;
	if (failed == 0)
		st = tel__spool_append(r->in, r->spool, &rest, &failed);
	part->size += rest;
	if (failed != 0)
		st = split_fail(r, failed);
	else if (st == TEL_EDAMAGED)
		st = tel__reader_damage(r, 0, 0, "%s", tel__input_error(r->in));
	else if (st != TEL_OK)
		tel__reader_fail(r, st, "%s", tel__input_error(r->in));
	r->spooled += part->size;
	return st;
}

tel_status
tel__reader_split(struct tel_reader *r, struct tel_member *part)
{
	if (r->at != READER_LOG)
		return r->failed != TEL_OK ? r->failed : TEL_END;
	memset(part, 0, sizeof(*part));
	part->name = strdup(r->log.name);
	if (part->name == NULL)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	/*
	 * What was counted and reported to open the log is that of the copy,
	 * where it has every byte.
	 */
	if (r->format->opened == NULL) {
		memcpy(r->count, r->count_before, sizeof(r->count));
		part->told = r->told - r->told_before;
	} else {
		r->count[TEL_COUNT_LOGS]--;
	}
	tel_status st = format_split_keep(r, part);
	if (st != TEL_OK) {
		free(part->name);
		return st;
	}
	/* a reader goes on behind what it read */
	r->p = r->end = NULL;
	r->peeked = 0;
	st = tel__reader_next_member(r);
	if (st == TEL_OK || st == TEL_END)
		return TEL_OK;
	free(part->name);
	return st;
}

tel_status
tel__reader_open_part(struct tel_reader *r, const struct tel_member *part,
    int counted, struct tel_reader **member)
{
	struct tel_input *in;
	tel_status st;

	if (*member == NULL && counted && r->nsplit == SPLIT_MAX)
		return tel__reader_fail(r, TEL_ELIMIT,
		    "more than %u members are of the same time: they cannot be "
		    "merged, and --no-merge reads one after the other",
		    SPLIT_MAX);
	st = part->files ? tel__input_memory("", 0, r->read_size, &in) :
	                   tel__input_part(r->spool, part->start, part->size,
	                       r->read_size, &in);
	if (st == TEL_OK && *member == NULL) {
		*member = like(r);
		if (*member == NULL) {
			tel__input_free(in);
			st = TEL_ENOMEM;
		} else if (counted) {
			(*member)->next_split = r->split;
			r->split = *member;
			r->nsplit++;
		} else {
			(*member)->notify = NULL;
		}
	}
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "%s", tel_status_text(st));
	(*member)->mute = part->told;
	if (!(*member)->set_is_shared) {
		/* of an archive that a member was */
		tel__reader_close_log(*member);
		tel__fileset_free((*member)->set);
	}
	(*member)->set = part->files ? r->set : NULL;
	(*member)->set_is_shared = part->files;
	st = tel__reader_open_again(*member, in, part->name);
	return st == TEL_OK ?
	    st :
	    tel__reader_fail(r, st, "%s", tel_reader_error(*member));
}

tel_status
tel__reader_suspend(struct tel_reader *r, int again)
{
	if (r->file.fd < 0 || (r->at != READER_LOG && r->at != READER_DONE) ||
	    r->follow || r->piece.count > 0 || tel__reader_is_archive(r) ||
	    r->failed != TEL_OK || r->log.tail_size > 0 ||
	    (again && r->count[TEL_COUNT_DAMAGED] > 0))
		return TEL_ESTATE;
	tel__reader_close_format(r);
	/* what was counted of a log that has ended may be named by its labels,
	 * if it has any: of thousands of logs they take much memory */
	if (again || tel__labels_count(r->log.labels) == 0) {
		tel__labels_free(r->log.labels);
		r->log.labels = NULL;
	}
	tel__history_free(r->log.history);
	r->log.history = NULL;
	if (!again)
		r->files_size = tel_reader_count(r, TEL_COUNT_INPUT);
	tel__input_free(r->in);
	r->in = NULL;
	r->p = r->end = NULL;
	r->peeked = r->back = 0;
	tel__reader_free_batch(r);
	if (!again)
		return TEL_OK;
	memset(r->count, 0, sizeof(r->count));
	r->mute = r->told;
	r->at = READER_SUSPENDED;
	return TEL_OK;
}
