/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Archives: each kind, made by its own tool in a scratch folder; a kind
 * whose tool is missing is left out.
 */
#include "packed.h"

/* The members of each archive: their names and what they hold. */
struct member {
	const char *name;
	size_t begin, end; /* of the bytes */
};

static const struct member members[] = {
	{ "a", 0, 100000 },
	{ "b", 100000, 100007 },
	{ "c", 100007, SIZE },
	{ "whole.gz", 0, SIZE },
	{ "whole.zst", 0, SIZE },
};
#define NMEMBERS (sizeof(members) / sizeof(members[0]))

static const struct member *
find_member(const char *name)
{
	size_t i;

	for (i = 0; i < NMEMBERS; i++) {
		if (strcmp(members[i].name, name) == 0)
			return &members[i];
	}
	return NULL;
}

/* Every member is there and holds what it shall. */
static int
good_members(struct tel_input *in, const unsigned char *bytes, unsigned wanted)
{
	const struct member *m;
	const unsigned char *data = NULL;
	const char *member;
	unsigned seen = 0;
	struct all all;
	tel_status st;
	size_t avail;

	while ((st = tel__input_next_member(in, &member)) == TEL_OK) {
		m = find_member(member);
		if (m == NULL) {
			diag("a member that should not be: %s", member);
			return 0;
		}
		seen++;
		if (seen % 5 == 2)
			continue; /* stepped over unread */
		all = read_all(in, bytes + m->begin, m->end - m->begin, 9999);
		if (all.status != TEL_OK || all.wrong ||
		    all.good != m->end - m->begin) {
			diag("%s: %s", member, tel__input_error(in));
			return 0;
		}
	}
	if (st != TEL_END || tel__input_next_member(in, &member) != TEL_END) {
		diag("the end: %s", tel__input_error(in));
		return 0;
	}
	if (tel__input_peek(in, 1, &data, &avail) != TEL_OK || avail != 0 ||
	    data == NULL) {
		diag("bytes behind the last member");
		return 0;
	}
	if (seen != wanted)
		diag("%u members, not %u", seen, wanted);
	return seen == wanted;
}

static void
check_archive(const char *name, const unsigned char *bytes, unsigned wanted)
{
	unsigned char *data = NULL;
	struct tel_input *in;
	FILE *pipe = NULL;
	const char *what;
	unsigned way;

	for (way = 0; (in = open_way(name, way, &what, &pipe, &data)) != NULL;
	     way++) {
		ok(tel__input_is_archive(in) && good_members(in, bytes, wanted),
		    "%s from %s", name, what);
		close_way(in, &pipe, &data);
	}
}

/*
 * A cut or damaged archive comes to an end, and what comes of a member
 * before a failure is right.
 */
static void
check_bad_archive(const char *name, const unsigned char *bytes, int flip)
{
	size_t n, at, calls;
	unsigned char *data = load(name, &n);
	int wrong = 0, failed = 0, tries = 0;
	const struct member *m;
	struct tel_input *in;
	const char *member;
	struct all all;
	tel_status st;

	if (data == NULL)
		abort();
	for (at = 600; at < n; at += 1 + n / 13, tries++) {
		data[at] ^= flip ? 0x41 : 0;
		in = open_memory(data, flip ? n : at, 4096);
		for (calls = 0; calls < 1000; calls++) {
			st = tel__input_next_member(in, &member);
			if (st == TEL_END)
				break;
			failed += st != TEL_OK;
			m = find_member(member);
			if (st != TEL_OK || m == NULL)
				continue;
			all = read_all(in, bytes + m->begin, m->end - m->begin,
			    9999);
			failed += all.status != TEL_OK;
			wrong += !flip && all.wrong;
		}
		wrong += calls == 1000;
		tel__input_free(in);
		data[at] ^= flip ? 0x41 : 0;
	}
	is_u64((uint64_t)wrong, 0, "%s %s: %d failures reported of %d", name,
	    flip ? "damaged" : "cut", failed, tries);
	free(data);
}

static void
check_format(const char *tool, const char *name, const char *command,
    const unsigned char *bytes)
{
	if (!have(tool, name))
		return;
	if (!ok(shell("OUT=%s; %s", name, command) == 0, "%s made", name))
		return;
	check_archive(name, bytes, NMEMBERS);
	check_bad_archive(name, bytes, 0);
	check_bad_archive(name, bytes, 1);
}

/* A header that goes on and on is not kept in memory. */
static void
check_big_header(void)
{
	struct tel_input *in;
	const char *member;

	if (!have("zstd", "a big header"))
		return;
	/* a name of 2^28 bytes, of which 10^8 are there */
	shell(
	    "{ printf 070701; for i in 1 000081a4 0 0 1 0 1 0 0 0 0 10000000"
	    " 0; do printf %%08d $i 2>&- || printf $i; done;"
	    " head -c 100000000 /dev/zero | tr '\\0' a; } | zstd -q >big.zst");
	in = open_name("big.zst", NULL);
	ok(tel__input_is_archive(in) &&
	        tel__input_next_member(in, &member) == TEL_EDAMAGED,
	    "a big header: %s", tel__input_error(in));
	ok(tel__input_next_member(in, &member) == TEL_END, "ends");
	tel__input_free(in);
}

/* An encrypted member is reported and left out. */
static void
check_encrypted(const unsigned char *bytes)
{
	struct tel_input *in;
	const char *member;
	struct all all;

	if (!have("zip", "an encrypted member"))
		return;
	ok(shell("zip -P secret locked.zip a && zip locked.zip c") == 0,
	    "locked.zip made");
	in = open_name("locked.zip", NULL);
	ok(tel__input_next_member(in, &member) == TEL_EDAMAGED &&
	        strcmp(member, "a") == 0 && errno == EIO,
	    "a locked member: %s", tel__input_error(in));
	ok(tel__input_next_member(in, &member) == TEL_OK &&
	        strcmp(member, "c") == 0,
	    "the one behind it");
	all = read_all(in, bytes + 100007, SIZE - 100007, 9999);
	ok(all.status == TEL_OK && !all.wrong && all.good == SIZE - 100007,
	    "can be read");
	tel__input_free(in);
	if (!have("7z", "an encrypted archive"))
		return;
	ok(shell("7z a -psecret -mhe=on locked.7z a") == 0, "locked.7z made");
	in = open_name("locked.7z", NULL);
	ok(tel__input_next_member(in, &member) == TEL_EDAMAGED,
	    "a locked 7z: %s", tel__input_error(in));
	ok(tel__input_next_member(in, &member) == TEL_END, "ends");
	tel__input_free(in);
}

/* Holes are zeros, and no file is all hole. */
static void
check_sparse(void)
{
	unsigned char *zeros = calloc(1, 5000001);
	struct tel_input *in;
	const char *member;
	struct all all;

	if (zeros == NULL)
		abort();
	zeros[5000000] = 'x';
	shell("truncate -s 5000000 hole && printf x >>hole &&"
	      "tar -cSf sparse.tar hole &&"
	      "truncate -s 5G huge && printf x >>huge &&"
	      "tar -cSf huge.tar huge a && rm hole huge");
	in = open_name("sparse.tar", NULL);
	ok(tel__input_next_member(in, &member) == TEL_OK, "a sparse member");
	all = read_all(in, zeros, 5000001, TEL_PEEK_MAX);
	ok(all.status == TEL_OK && !all.wrong && all.good == 5000001,
	    "has zeros for its hole");
	tel__input_free(in);
	in = open_name("huge.tar", NULL);
	ok(tel__input_next_member(in, &member) == TEL_EDAMAGED &&
	        strcmp(member, "huge") == 0,
	    "a hole too big: %s", tel__input_error(in));
	ok(tel__input_next_member(in, &member) == TEL_OK &&
	        strcmp(member, "a") == 0,
	    "the member behind it");
	tel__input_free(in);
	free(zeros);
}

static void
check_no_room(void)
{
	struct tel_input *in;
	const char *member;
	FILE *pipe;

	if (!have("7z", "no room to keep a 7z"))
		return;
	setenv("TMPDIR", "/nonexistent", 1);
	in = open_name("all.7z", &pipe);
	ok(tel__input_next_member(in, &member) == TEL_EIO && errno == ENOENT,
	    "no folder to keep a 7z in: %s", tel__input_error(in));
	ok(tel__input_next_member(in, &member) == TEL_END, "ends");
	tel__input_free(in);
	pclose(pipe);
	setenv("TMPDIR", folder, 1);
}

int
main(void)
{
	unsigned char *bytes = make_bytes(SIZE, 2);
	size_t i;

	make_folder();
	for (i = 0; i < 3; i++)
		store(members[i].name, bytes + members[i].begin,
		    members[i].end - members[i].begin);
	store("whole", bytes, SIZE);
	store("nothing", bytes, 0);
	shell("mkdir dir && ln -s a link && gzip -c whole >whole.gz &&"
	      "zstd -qc whole >whole.zst");

#define FILES "dir nothing a b c whole.gz whole.zst"
#define ALL "link " FILES
	check_format("tar", "all.tar", "tar -cf $OUT " ALL, bytes);
	check_format("tar", "old.tar", "tar --format=v7 -cf $OUT " ALL, bytes);
	check_format("tar", "pax.tar", "tar --format=pax -cf $OUT " ALL, bytes);
	check_format("tar", "all.tar.gz", "tar -czf $OUT " ALL, bytes);
	check_format("tar", "all.tar.zst", "tar -cf - " ALL " | zstd -qc >$OUT",
	    bytes);
	/* where it is not sought in, a zip does not say what is a link */
	check_format("zip", "all.zip", "zip $OUT " FILES, bytes);
	check_format("zip", "stream.zip", "zip - " FILES " | cat >$OUT", bytes);
	check_format("7z", "all.7z", "7z a -snl $OUT " ALL, bytes);
	check_format("cpio", "new.cpio",
	    "printf '%s\\n' " ALL " | cpio -H newc -o >$OUT", bytes);
	check_format("cpio", "crc.cpio",
	    "printf '%s\\n' " ALL " | cpio -H crc -o >$OUT", bytes);
	check_format("cpio", "odc.cpio",
	    "printf '%s\\n' " ALL " | cpio -H odc -o >$OUT", bytes);
	check_format("cpio", "bin.cpio",
	    "printf '%s\\n' " ALL " | cpio -H bin -o >$OUT", bytes);
	check_big_header();
	check_encrypted(bytes);
	check_sparse();
	check_no_room();
	shell("rm -rf %s", folder);
	free(bytes);
	return done();
}
