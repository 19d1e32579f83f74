/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting operands by several threads, and taking what they found in order. */
#include "counting.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/queue.h"
#include "tel/run.h"

/* A file of which less would be in a piece is one piece. */
#define PIECE_MIN ((uint64_t)1 << 20)
/* More is too much to count of a piece, if all is kept in its order. */
#define PIECE_MAX ((uint64_t)4 << 20)
/* Pieces of a file for each thread, as threads are not equally fast. */
#define PIECES_PER_THREAD 4u
#define PIECES_MAX ((uint64_t)1 << 20)
/* Without -j, smaller inputs are not worth a thread. */
#define WORTH_MIN ((uint64_t)4 << 20)
/* Events between two looks at whether the rest is still of use. */
#define STEP 16384u
/* With progress, the longest wait for a piece. */
#define PROGRESS_MS 100

/* What a reader has reported, until it is known whether it counts. */
struct note {
	struct note *next;
	tel_severity severity;
	uint64_t offset;
	char *log;
	char text[];
};

struct notes {
	struct note *first, **end;
	unsigned damage;
	int failed; /* out of memory */
};

/* A piece of an operand, or all of it. */
struct piece {
	struct count_pool *pool;
	struct file *file;
	unsigned number;
	int fd;
	int entire; /* the others of the file have nothing */
	int failed;
	struct notes notes;
	tel_reader *reader;
	tel_filter *filter; /* NULL: all events */
	void *counter;
};

/* An operand. */
struct file {
	char *operand;
	int usual;          /* it is not read by several threads */
	atomic_int dropped; /* pieces that are not read yet are of no use */
	int opened; /* by piece 0, which knows whether there are others */
	int entire; /* there are none */
	struct stat stat;
	struct piece *pieces;
	unsigned npieces;
	size_t job; /* of its first piece */
};

/* All of it. */
struct count_pool {
	struct settings *settings;
	const struct visitor *visitor;
	const struct counting *counting;
	struct file *files;
	int nfiles;
	struct piece *pieces;
	size_t npieces;
	struct tel__queue *queue;    /* a job reads a piece */
	atomic_ullong events, input; /* what the jobs have done */
	struct progress progress;
	uint64_t size;
	tel_reader *types;    /* of files that were read again, or NULL */
	pthread_mutex_t lock; /* of .opened and .entire of all files */
	pthread_cond_t change;
};

/* ------------------------------------------------------------------ notices */

/* A tel_notify_fn: keeps what may be shown. */
static void
keep_note(void *arg, tel_severity severity, const char *log, uint64_t offset,
    const char *text)
{
	struct piece *p = arg;
	const struct settings *s = p->pool->settings;
	struct notes *notes = &p->notes;
	size_t n = strlen(text) + 1, m = strlen(log) + 1;
	struct note *note;

	if (severity == TEL_INFO && !s->verbose)
		return;
	if (severity == TEL_DAMAGE && notes->damage++ >= NOTICES_DAMAGE_MAX)
		return;
	note = malloc(sizeof(*note) + n + m);
	if (note == NULL) {
		notes->failed = 1;
		return;
	}
	note->next = NULL;
	note->severity = severity;
	note->offset = offset;
	memcpy(note->text, text, n);
	note->log = memcpy(note->text + n, log, m);
	if (notes->first == NULL)
		notes->end = &notes->first;
	*notes->end = note;
	notes->end = &note->next;
}

static void
forget_notes(struct notes *notes)
{
	struct note *note;

	while ((note = notes->first) != NULL) {
		notes->first = note->next;
		free(note);
	}
	notes->damage = 0;
}

/* ------------------------------------------------------- on one of the threads */

/* Frees what read the piece, except for what it reported. */
static void
piece_close(struct piece *p)
{
	if (p->counter != NULL)
		p->pool->counting->free(p->counter);
	p->counter = NULL;
	tel_filter_free(p->filter);
	p->filter = NULL;
	tel_reader_free(p->reader);
	p->reader = NULL;
	if (p->fd >= 0)
		(void)close(p->fd);
	p->fd = -1;
}

static void
piece_free(struct piece *p)
{
	piece_close(p);
	forget_notes(&p->notes);
}

/* Opens the file, if it is still the one that was looked at. */
static int
open_again(struct piece *p)
{
	const struct stat *was = &p->file->stat;
	struct stat st;

	p->fd = tel_open_path(p->file->operand);
	return p->fd >= 0 && fstat(p->fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_dev == was->st_dev && st.st_ino == was->st_ino;
}

/*
 * Has the reader read its piece.  A selection can leave out blocks of the native
 * format, which saves more than threads do, so those are not read in pieces.
 * Returns 1; 0: there is nothing for this one; or -1.
 */
static int
set_piece(struct piece *p)
{
	const int filtering = p->pool->settings->select.filtering;
	tel_status st = TEL_END;

	p->entire = p->file->npieces == 1;
	if (p->entire)
		return 1;
	if (!filtering || strcmp(tel_reader_format(p->reader), "tel") != 0)
		st = tel_reader_set_piece(p->reader, p->number,
		    p->file->npieces);
	/* what the start of the log has to say, piece 0 reports */
	if (p->number > 0)
		forget_notes(&p->notes);
	p->entire = st == TEL_END && p->number == 0;
	if (p->entire || st == TEL_OK)
		return 1;
	return st == TEL_END ? 0 : -1;
}

/* The selection with the piece's own filter. */
static struct selection
selection_of(const struct piece *p)
{
	struct selection selection = p->pool->settings->select;

	selection.filter = p->filter;
	return selection;
}

/* Piece 0 is prepared, or cannot be. */
static void
announce(struct piece *p)
{
	struct count_pool *t = p->pool;

	pthread_mutex_lock(&t->lock);
	p->file->opened = 1;
	p->file->entire = p->entire;
	pthread_cond_broadcast(&t->change);
	pthread_mutex_unlock(&t->lock);
}

/*
 * Nonzero when there is no such piece.  To find that out by itself it would
 * read the start of the file, and a selection may need little more than that.
 * Piece 0 was started before it.
 */
static int
is_needless(struct piece *p)
{
	struct count_pool *t = p->pool;

	if (p->number == 0 || !t->settings->select.filtering)
		return 0;
	pthread_mutex_lock(&t->lock);
	while (!p->file->opened)
		pthread_cond_wait(&t->change, &t->lock);
	int entire = p->file->entire;
	pthread_mutex_unlock(&t->lock);
	return entire;
}

/* Prepares to read.  Returns as set_piece(). */
static int
counting_prepare(struct piece *p)
{
	const struct settings *s = p->pool->settings;
	struct selection selection;

	if (!open_again(p))
		return -1;
	p->reader = source_reader(s, keep_note, p);
	if (p->reader == NULL ||
	    tel_reader_open_fd(p->reader, p->fd, p->file->operand) != TEL_OK)
		return -1;
	int some = set_piece(p);
	if (some <= 0)
		return some;
	if (s->select.filtering) {
		p->filter = tel_filter_copy(s->select.filter);
		if (p->filter == NULL ||
		    tel_filter_bind(p->filter, tel_reader_schema(p->reader)) !=
		        TEL_OK)
			return -1;
		if (s->verbose && p == p->file->pieces)
			tel_filter_explain(p->filter,
			    tel_reader_schema(p->reader), p->file->operand,
			    keep_note, p);
		selection = selection_of(p);
		if (p->entire) {
			selection_narrow(&selection, p->reader, NULL);
			selection_attach(&selection, p->reader, 0, 0);
		}
	}
	p->counter = p->pool->counting->open(p->pool->counting->arg, p->reader);
	return p->counter != NULL ? 1 : -1;
}

/* Tells how much was read since the last time. */
static void
report_done(const struct piece *p, struct done *before)
{
	struct done now;

	now.events = tel_reader_count(p->reader, TEL_COUNT_EVENTS);
	now.input = tel_reader_count(p->reader, TEL_COUNT_INPUT);
	if (now.events >= before->events && now.input >= before->input) {
		atomic_fetch_add(&p->pool->events, now.events - before->events);
		atomic_fetch_add(&p->pool->input, now.input - before->input);
	}
	*before = now;
}

/* Reads to the end.  Returns 1, or 0 when it failed or is of no use. */
static int
counting_count_events(struct piece *p, void *counter)
{
	const struct counting *c = p->pool->counting;
	struct selection selection = selection_of(p);
	struct done done = { 0, 0 };
	size_t until = STEP, n;
	tel_run *run;
	tel_status st;
	int first = 1;

	while ((st = tel_reader_run(p->reader, SIZE_MAX, &run)) == TEL_OK ||
	    st == TEL_LOG) {
		if (st == TEL_LOG)
			continue;
		if (first && p->filter != NULL && p->entire)
			selection_narrow(&selection, p->reader,
			    tel_run_event(run, 0));
		first = 0;
		n = tel_run_count(run);
		until -= n < until ? n : until;
		if (until == 0) {
			until = STEP;
			if (atomic_load(&p->file->dropped))
				return 0;
			report_done(p, &done);
		}
		if (p->filter != NULL &&
		    tel_filter_run(p->filter, run) != TEL_OK)
			return 0;
		if (tel_run_count(run) > 0 && !c->run(counter, run))
			return 0;
	}
	report_done(p, &done);
	return st == TEL_END && !p->notes.failed;
}

/* A tel__queue_fn. */
static int
do_piece(void *arg, unsigned thread, uint64_t job)
{
	struct count_pool *t = arg;
	struct piece *p = &t->pieces[job];

	(void)thread;
	if (p->file->usual || atomic_load(&p->file->dropped)) {
		p->failed = 1;
		if (p->number == 0)
			announce(p);
		return 1;
	}
	if (is_needless(p))
		return 1;
	int some = counting_prepare(p);
	if (p->number == 0)
		announce(p);
	p->failed =
	    some < 0 || (some > 0 && !counting_count_events(p, p->counter));
	if (some <= 0 || p->failed)
		piece_free(p);
	return 1;
}

/* ------------------------------------------------------ on the main thread */

static struct done
all_done(struct count_pool *t)
{
	return (struct done){ atomic_load(&t->events), atomic_load(&t->input) };
}

/* Waits for a piece; shows progress meanwhile. */
static struct piece *
counting_wait_for(struct count_pool *t, struct file *f, unsigned i)
{
	const uint64_t job = f->job + i;

	/* what comes before it is not waited for any more */
	tel__queue_take(t->queue, job);
	while (tel__queue_wait(t->queue, job,
	           t->progress.on ? PROGRESS_MS : -1) == TEL__QUEUE_NONE)
		if (progress_due(&t->progress))
			progress_show(&t->progress, all_done(t));
	tel__queue_take(t->queue, job + 1);
	return &f->pieces[i];
}

/* Adds a piece to the first one.  Returns as tel_reader_join(). */
static tel_status
counting_join(struct piece *first, struct piece *p, void *counter)
{
	tel_status st = tel_reader_join(first->reader, p->reader);

	if (st == TEL_OK &&
	    !first->pool->counting->join(first->counter, counter))
		return TEL_ELIMIT;
	return st;
}

/*
 * The piece after last, number i, does not continue it: last goes on instead.
 * Returns TEL_OK; TEL_END: the log has ended; a failure.
 */
static tel_status
go_on(struct piece *first, struct piece *last, unsigned i)
{
	const struct counting *c = first->pool->counting;
	void *counter = first->counter;
	tel_status st = tel_reader_extend(first->reader, last->reader, i);

	if (st != TEL_OK)
		return st;
	if (last != first && (counter = c->open(c->arg, last->reader)) == NULL)
		return TEL_ENOMEM;
	if (!counting_count_events(last, counter))
		st = TEL_EIO;
	if (last != first) {
		if (st == TEL_OK)
			st = counting_join(first, last, counter);
		c->free(counter);
		if (st == TEL_END)
			st = TEL_ELIMIT;
	}
	return st;
}

/*
 * Joins all pieces of a file to the first one.  kept: set to nonzero for those
 * whose notices count.  TEL_OK, or a failure: the file is to be read again.
 */
static tel_status
join_all(struct count_pool *t, struct file *f, unsigned char *kept)
{
	struct piece *first = counting_wait_for(t, f, 0), *last = first, *p;
	tel_status st = first->failed ? TEL_EIO : TEL_OK;

	kept[0] = 1;
	for (unsigned i = 1; i < f->npieces; i++) {
		p = counting_wait_for(t, f, i);
		if (st != TEL_OK || first->entire)
			continue;
		st = p->failed || p->reader == NULL ?
		    TEL_END :
		    counting_join(first, p, p->counter);
		if (st == TEL_OK) {
			/* it has megabytes, where the log is compressed */
			if (last != first)
				piece_close(last);
			last = p;
			kept[i] = 1;
			t->counting->free(p->counter);
			p->counter = NULL;
		} else if (st == TEL_END) {
			piece_free(p);
			st = go_on(first, last, i);
			/* the log has ended: the rest is nothing */
			if (st == TEL_END)
				st = TEL_OK;
		}
		if (st != TEL_OK)
			atomic_store(&f->dropped, 1);
	}
	return st;
}

/* Shows what was reported of a file, and sums it up. */
static void
close_file(struct count_pool *t, struct file *f, struct source *src,
    const unsigned char *kept)
{
	const struct note *n;

	notices_begin(&src->notices, t->settings);
	for (unsigned i = 0; i < f->npieces; i++)
		for (n = f->pieces[i].notes.first; kept[i] && n != NULL;
		     n = n->next)
			notices_take(&src->notices, n->severity, n->log,
			    n->offset, n->text);
	source_close(src);
}

/* Takes what was counted of a file.  Returns how to go on. */
static enum outcome
take_file(struct count_pool *t, struct file *f)
{
	const struct counting *c = t->counting;
	struct piece *first = &f->pieces[0];
	unsigned char *kept = calloc(f->npieces, 1);
	enum counted counted = COUNT_AGAIN;
	struct source src;

	if (kept == NULL)
		atomic_store(&f->dropped, 1);
	else if (join_all(t, f, kept) == TEL_OK) {
		memset(&src, 0, sizeof(src));
		src.name = f->operand;
		src.fd = -1;
		src.size = (uint64_t)f->stat.st_size;
		src.reader = first->reader;
		counted = c->take(c->arg, first->counter, &src);
		if (counted != COUNT_AGAIN) {
			first->reader = NULL;
			c->free(first->counter);
			first->counter = NULL;
			close_file(t, f, &src, kept);
		}
	}
	for (unsigned i = 0; i < f->npieces; i++) {
		if (kept == NULL)
			(void)counting_wait_for(t, f, i);
		piece_free(&f->pieces[i]);
	}
	free(kept);
	if (counted == COUNT_STOP)
		return END_ALL;
	if (counted == COUNT_NEXT)
		return CONTINUE;
	progress_pause(&t->progress);
	if (t->types == NULL && t->nfiles > 1)
		t->types = source_types(t->settings);
	return source_run(t->settings, t->visitor, f->operand, t->types);
}

/* Facts on an operand before it is opened. */
static void
counting_look_at(struct count_pool *t, struct file *f, char *operand,
    unsigned threads)
{
	uint64_t size, most = (uint64_t)threads * PIECES_PER_THREAD;

	f->operand = operand;
	f->npieces = 1;
	f->usual = strcmp(operand, "-") == 0 || stat(operand, &f->stat) != 0 ||
	    !S_ISREG(f->stat.st_mode);
	if (f->usual)
		return;
	size = (uint64_t)f->stat.st_size;
	t->size += size;
	if (t->counting->no_pieces || size < 2 * PIECE_MIN)
		return;
	if (most < size / PIECE_MAX)
		most = size / PIECE_MAX < PIECES_MAX ? size / PIECE_MAX :
		                                       PIECES_MAX;
	f->npieces =
	    (unsigned)(size / PIECE_MIN < most ? size / PIECE_MIN : most);
}

/* Makes the pieces of all files.  Returns 1, or 0: out of memory. */
static int
make_pieces(struct count_pool *t)
{
	for (int i = 0; i < t->nfiles; i++)
		t->npieces += t->files[i].npieces;
	struct piece *p = t->pieces = calloc(t->npieces, sizeof(*t->pieces));
	if (p == NULL)
		return 0;
	for (int i = 0; i < t->nfiles; i++) {
		t->files[i].pieces = p;
		t->files[i].job = (size_t)(p - t->pieces);
		for (unsigned j = 0; j < t->files[i].npieces; j++, p++) {
			p->pool = t;
			p->file = &t->files[i];
			p->number = j;
			p->fd = -1;
		}
	}
	return 1;
}

/* Takes all files in order, by jobs that were begun. */
static void
take_all(struct count_pool *t)
{
	enum outcome outcome = CONTINUE;
	int i;

	progress_begin(&t->progress, t->settings, t->size);
	for (i = 0; i < t->nfiles && outcome != END_ALL; i++)
		outcome = take_file(t, &t->files[i]);
	for (; i < t->nfiles; i++)
		atomic_store(&t->files[i].dropped, 1);
	tel__queue_free(t->queue);
	progress_end(&t->progress, all_done(t));
}

/* Counts by threads.  Returns 1, or 0 when it is not to be done so. */
static int
count_all(struct count_pool *t, unsigned threads)
{
	int counted = 0;

	if (t->npieces < 2 || (t->settings->jobs == 0 && t->size < WORTH_MIN))
		return 0;
	if (pthread_mutex_init(&t->lock, NULL) != 0)
		return 0;
	if (pthread_cond_init(&t->change, NULL) != 0) {
		pthread_mutex_destroy(&t->lock);
		return 0;
	}
	t->queue = tel__queue_new(2 * (size_t)threads + 2, 1, do_piece, t);
	if (t->queue != NULL) {
		(void)tel__queue_submit(t->queue, t->npieces, 0);
		counted = tel__queue_start(t->queue, threads) > 0;
		if (counted)
			take_all(t);
		else
			tel__queue_free(t->queue);
	}
	pthread_cond_destroy(&t->change);
	pthread_mutex_destroy(&t->lock);
	return counted;
}

void
counting_run(struct settings *s, const struct visitor *v,
    const struct counting *c)
{
	unsigned threads = s->jobs > 0 ? s->jobs : settings_cores();
	struct count_pool t = { 0 };
	int i, counted = 0;

	t.settings = s;
	t.visitor = v;
	t.counting = c;
	t.nfiles = s->noperands;
	if (threads > 1 && t.nfiles > 0 && !s->unbuffered)
		t.files = calloc((size_t)t.nfiles, sizeof(*t.files));
	if (t.files != NULL) {
		for (i = 0; i < t.nfiles; i++)
			counting_look_at(&t, &t.files[i], s->operands[i],
			    threads);
		if (make_pieces(&t))
			counted = count_all(&t, threads);
		for (size_t j = 0; t.pieces != NULL && j < t.npieces; j++)
			piece_free(&t.pieces[j]);
	}
	tel_reader_free(t.types);
	free(t.pieces);
	free(t.files);
	if (!counted)
		sources_run(s, v);
}
