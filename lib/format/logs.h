/* SPDX-License-Identifier: BSD-2-Clause */
/* The logs of an input: one starts, ends, and is followed by the next one. */
#ifndef TEL_FORMAT_LOGS_H
#define TEL_FORMAT_LOGS_H

#include "reader/reader.h"

/* Detects and opens the log at the current place of the input. */
tel_status tel__reader_begin_log(struct tel_reader *r, const char *name);
/*
 * Starts the next member of an archive that is a log.  TEL_OK; TEL_END: there is
 * none; a failure.
 */
tel_status tel__reader_begin_member(struct tel_reader *r);
/* The same, where the input may not have been read to the member's end. */
tel_status tel__reader_next_member(struct tel_reader *r);
/* Goes on with r->next_log, after the log that has ended. */
void tel__reader_begin_coming(struct tel_reader *r);
/* Leaves out all events of the open log, if that is what the user wants. */
void tel__reader_pass_log(struct tel_reader *r);

/*
 * Reports that the input was damaged at from, by text, and went on behind lost
 * bytes of content; 0 where their number is not known.
 */
tel_status tel__reader_damage_input(struct tel_reader *r, uint64_t from,
    uint64_t lost, const char *text);
/*
 * The log has come to an end: of itself, or because the input below failed,
 * which for compressed input means that it is damaged.  TEL_OK: it goes on
 * behind that; else what tel__reader_finish_log() takes.
 */
tel_status tel__reader_end_log(struct tel_reader *r);
/*
 * The log has no event any more, by st: opens the next one, or ends.  TEL_LOG:
 * what the events of the ended log refer to stays until
 * tel__reader_begin_coming(); TEL_END; a failure.
 */
tel_status tel__reader_finish_log(struct tel_reader *r, tel_status st);

/* Ends what the format has of the log, and what the log has of that. */
void tel__reader_close_format(struct tel_reader *r);
/* Forgets the log that is being read, if any. */
void tel__reader_close_log(struct tel_reader *r);

#endif
