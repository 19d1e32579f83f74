/* SPDX-License-Identifier: BSD-2-Clause */
/* The confinement of a tool by Landlock and seccomp, as xz and lowdown do it. */
#define _GNU_SOURCE /* for syscall(), O_PATH and realpath() */
#include "sandbox.h"

#include <sys/syscall.h>

/*
 * A sanitizer opens files, starts threads that trace, and runs a symbolizer.
 * Headers without Landlock are of a kernel before 5.13.  NO_SANDBOX: for
 * valgrind, which does not know these system calls.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NO_SANDBOX
#endif
#endif
#if defined(__linux__) && defined(SYS_landlock_restrict_self) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(NO_SANDBOX)

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

/* ------------------------------------------------------------- file system */

/* Those of linux/landlock.h, of which older headers have only some. */
enum {
	FS_EXECUTE = 1 << 0,
	FS_WRITE_FILE = 1 << 1,
	FS_READ_FILE = 1 << 2,
	FS_READ_DIR = 1 << 3,
	FS_REMOVE_DIR = 1 << 4,
	FS_REMOVE_FILE = 1 << 5,
	FS_MAKE_DIR = 1 << 7,
	FS_MAKE_REG = 1 << 8,
	FS_TRUNCATE = 1 << 14,
	/* what each version of the interface knows */
	FS_VERSION_1 = (1 << 13) - 1,
	FS_VERSION_2 = (1 << 14) - 1,
	FS_VERSION_3 = (1 << 15) - 1,
	/* those that a rule of a file may have */
	FS_OF_FILE = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE,

	FS_READ = FS_READ_FILE | FS_READ_DIR,
	FS_RENAME = FS_MAKE_REG | FS_REMOVE_FILE,
	FS_MAKE = FS_RENAME | FS_WRITE_FILE | FS_TRUNCATE,
	RULE_PATH_BENEATH = 1,
	ASK_VERSION = 1
};

struct ruleset_attr {
	uint64_t fs;
	uint64_t net;    /* from version 4 on; 3: to bind, to connect by TCP */
	uint64_t scoped; /* from version 6 on; 3: abstract sockets, signals */
};

struct rule_attr {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

struct rules {
	int fd;
	uint64_t handled;
};

/*
 * Allows access to a file, or to a folder and all beneath.  What cannot be
 * opened here will not be opened later.  The system calls are made directly,
 * so that tests that fail those of the tool do not count these.
 */
static void
allow(const struct rules *r, const char *path, unsigned access)
{
	struct rule_attr rule = { access & r->handled, -1 };
	struct stat st;

	rule.parent =
	    (int32_t)syscall(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC);
	if (rule.parent < 0)
		return;
	if (fstat(rule.parent, &st) == 0 && !S_ISDIR(st.st_mode))
		rule.allowed &= FS_OF_FILE;
	(void)syscall(SYS_landlock_add_rule, r->fd, RULE_PATH_BENEATH, &rule,
	    0);
	(void)syscall(SYS_close, rule.parent);
}

/* The same of the first n bytes of a path; none are the current folder. */
static void
allow_part(const struct rules *r, const char *path, size_t n, unsigned access)
{
	char part[PATH_MAX];

	if (n >= sizeof(part))
		return;
	memcpy(part, n == 0 ? "." : path, n == 0 ? 1 : n);
	part[n == 0 ? 1 : n] = '\0';
	allow(r, part, access);
}

/* The length of the folder, with its slash, in the first n bytes of a path. */
static size_t
folder_length(const char *path, size_t n)
{
	while (n > 0 && path[n - 1] != '/')
		n--;
	return n;
}

/* Nonzero if a file starts as a trace of HPM does, or as a packed file. */
static int
may_have_meta(const char *operand)
{
	static const char starts[][4] = { "\0\0\0", "\x1f\x8b", "BZ",
		{ '\xfd', '7', '\0', '\0' }, "\x04\"", "\x28\xb5" };
	char start[4] = "?";
	long fd = syscall(SYS_openat, AT_FDCWD, operand,
	    O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return 0;
	(void)syscall(SYS_read, fd, start, sizeof(start));
	(void)syscall(SYS_close, fd);
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (memcmp(start, starts[i], i == 0 ? 3 : 2) == 0)
			return 1;
	return 0;
}

/* The folders that were looked into last. */
struct folders {
	dev_t device[64];
	ino_t number[64];
	unsigned next;
};

/* Nonzero if a folder is one of those; else it will be. */
static int
was_looked_into(struct folders *f, const char *path)
{
	const size_t most = sizeof(f->device) / sizeof(f->device[0]);
	struct stat st;

	if (stat(path, &st) != 0)
		return 1;
	for (size_t i = 0; i < most; i++)
		if (f->number[i] == st.st_ino && f->device[i] == st.st_dev)
			return 1;
	f->device[f->next % most] = st.st_dev;
	f->number[f->next++ % most] = st.st_ino;
	return 0;
}

/*
 * A trace of HPM names a meta file in its folder, which is PREFIX.headerFile,
 * perhaps compressed.
 */
static void
allow_meta(const struct rules *r, const char *operand, struct folders *looked)
{
	const size_t n = folder_length(operand, strlen(operand));
	char path[PATH_MAX];
	struct dirent *e;

	if (n + 3 > sizeof(path) || !may_have_meta(operand))
		return;
	(void)snprintf(path, sizeof(path), "%.*s.", (int)n, operand);
	if (was_looked_into(looked, path))
		return;
	DIR *folder = opendir(path);
	while (folder != NULL && (e = readdir(folder)) != NULL)
		if (fnmatch("*.headerFile*", e->d_name, 0) == 0 &&
		    n + strlen(e->d_name) < sizeof(path)) {
			strcpy(path + n, e->d_name);
			allow(r, path, FS_READ_FILE);
		}
	if (folder != NULL)
		(void)closedir(folder);
}

/* A file of a CTF trace is read with all files of its folder. */
static void
allow_trace(const struct rules *r, const char *operand)
{
	const size_t n = folder_length(operand, strlen(operand));
	char path[PATH_MAX];

	if (n + sizeof("metadata") > sizeof(path))
		return;
	(void)snprintf(path, sizeof(path), "%.*smetadata", (int)n, operand);
	if (access(path, R_OK) == 0)
		allow_part(r, operand, n, FS_READ);
}

/* The folder of a library that is loaded may have those that will be. */
static int
allow_library(struct dl_phdr_info *library, size_t size, void *rules)
{
	const char *name = library->dlpi_name;

	(void)size;
	if (name[0] == '/')
		allow_part(rules, name, folder_length(name, strlen(name)),
		    FS_READ);
	return 0;
}

/* What decoding reads beside the operands: libraries are loaded on demand. */
static void
allow_system(struct rules *r)
{
	static const char *const paths[] = { "/usr", "/lib", "/nix/store",
		"/gnu/store", "/etc/ld.so.cache" };
	const char *list = getenv("LD_LIBRARY_PATH"), *tmp = getenv("TMPDIR");
	size_t i, n;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		allow(r, paths[i], FS_READ);
	(void)dl_iterate_phdr(allow_library, r);
	for (; list != NULL && *list != '\0'; list += n + (list[n] == ':')) {
		n = strcspn(list, ":");
		allow_part(r, list, n, FS_READ);
	}
	/* files without a name, to sort events or to seek in a pipe's input */
	allow(r, tmp != NULL && *tmp != '\0' ? tmp : "/tmp",
	    FS_MAKE | FS_READ_FILE);
}

/* What getaddrinfo(3) reads for an operand "tcp:HOST:PORT". */
static void
allow_resolver(const struct rules *r)
{
	static const char *const paths[] = { "/etc/resolv.conf", "/etc/hosts",
		"/etc/host.conf", "/etc/nsswitch.conf", "/etc/services",
		"/etc/gai.conf" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		allow(r, paths[i], FS_READ_FILE);
}

/* Nonzero when an operand is a socket, by its name or by its file. */
static int
has_socket(const struct settings *s)
{
	struct stat st;

	for (int i = 0; i < s->noperands; i++)
		if (stat(s->operands[i], &st) == 0 ?
		        S_ISSOCK(st.st_mode) :
		        strncmp(s->operands[i], "tcp:", 4) == 0 ||
		            strncmp(s->operands[i], "unix:", 5) == 0)
			return 1;
	return 0;
}

static void
allow_inputs(const struct rules *r, const struct settings *s)
{
	struct folders looked = { .next = 0 };
	struct stat st;

	if (fstat(0, &st) == 0 && S_ISDIR(st.st_mode))
		allow(r, "/dev/stdin", FS_READ);
	for (int i = 0; i < s->noperands; i++) {
		if (stat(s->operands[i], &st) != 0)
			continue;
		allow(r, s->operands[i],
		    S_ISDIR(st.st_mode) ? FS_READ : FS_READ_FILE);
		if (!S_ISREG(st.st_mode))
			continue;
		allow_meta(r, s->operands[i], &looked);
		allow_trace(r, s->operands[i]);
	}
	for (size_t j = 0; j < s->ndescriptions; j++)
		allow(r, s->descriptions[j], FS_READ_FILE);
	for (size_t j = 0; j < s->ncontracts; j++)
		allow(r, s->contracts[j], FS_READ_FILE);
	if (s->meta != NULL)
		allow(r, s->meta, FS_READ_FILE);
	/* whether the program that writes a ring file has ended */
	if (s->unbuffered)
		allow(r, "/proc", FS_READ_FILE);
}

static void
allow_outputs(const struct rules *r, const struct settings *s,
    const struct sink *sink, const char *made)
{
	const char *target = sink != NULL ? sink->file.target : NULL;
	char *real = made != NULL ? realpath(made, NULL) : NULL;

	if (target != NULL)
		allow_part(r, target, folder_length(target, strlen(target)),
		    s->replace ? FS_MAKE : FS_RENAME);
	else if (s->replace)
		allow(r, s->output, FS_WRITE_FILE | FS_TRUNCATE);
	if (real != NULL)
		made = real;
	size_t n = made != NULL ? strlen(made) : 0;
	/* a trace is a folder itself, also with slashes behind it */
	while (n > 1 && made[n - 1] == '/')
		n--;
	/* with --split, the number may be in the name of a folder */
	const char *number = n > 0 ? memchr(made, '%', n) : NULL;
	if (number != NULL)
		n = (size_t)(number - made);
	/* SQLite also reads, and synchronises the folder of its journal */
	if (made != NULL)
		allow_part(r, made, folder_length(made, n),
		    FS_MAKE | FS_READ | FS_MAKE_DIR | FS_REMOVE_DIR);
	free(real);
}

/* Returns 0, or -1 with errno set. */
static int
confine_files(const struct settings *s, const struct sink *sink,
    const char *made, int sockets)
{
	struct ruleset_attr attr = { FS_VERSION_1, 0, 0 };
	long version =
	    syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);
	size_t size = offsetof(struct ruleset_attr, net);
	struct rules r;

	if (version < 1)
		return -1;
	if (version >= 2)
		attr.fs = version == 2 ? FS_VERSION_2 : FS_VERSION_3;
	if (version >= 4) {
		attr.net = sockets ? 1 : 3;
		size = offsetof(struct ruleset_attr, scoped);
	}
	if (version >= 6) {
		attr.scoped = sockets ? 2 : 3;
		size = sizeof(attr);
	}
	r.handled = attr.fs;
	r.fd = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
	/* that of RHEL 9 claims version 6, but has no scopes */
	if (r.fd < 0 && version >= 6)
		r.fd = (int)syscall(SYS_landlock_create_ruleset, &attr,
		    offsetof(struct ruleset_attr, scoped), 0);
	if (r.fd < 0)
		return -1;
	/* a rule for a file in a folder takes two more for a while */
	long spare = syscall(SYS_fcntl, r.fd, F_DUPFD_CLOEXEC, r.fd + 2);
	if (spare < 0) {
		(void)syscall(SYS_close, r.fd);
		errno = EMFILE;
		return -1;
	}
	(void)syscall(SYS_close, spare);
	allow_inputs(&r, s);
	allow_outputs(&r, s, sink, made);
	allow_system(&r);
	if (sockets)
		allow_resolver(&r);
	int result = (int)syscall(SYS_landlock_restrict_self, r.fd, 0);
	(void)syscall(SYS_close, r.fd);
	return result;
}

/* ------------------------------------------------------------ system calls */

#if defined(__x86_64__) && !defined(__ILP32__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef ARCH
/*
 * Those that no tool needs, and that give access to programs, other processes,
 * privileges, devices, or to files by their names where Landlock has no say.  A
 * list of the allowed ones would depend on the release of each library.
 */
enum { FCHMODAT2 = 452, SETXATTRAT = 463, REMOVEXATTRAT = 466 };
static const unsigned short denied[] = { SYS_socket, SYS_connect, SYS_bind,
	/* those were the ones that an operand needs that is a socket */
	SYS_listen, SYS_accept, SYS_accept4, SYS_execve, SYS_execveat,
#ifdef __x86_64__
	SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
	SYS_iopl, SYS_ioperm, SYS_modify_ldt,
#endif
	SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
	SYS_process_madvise, SYS_pidfd_open, SYS_pidfd_getfd, SYS_kcmp,
	SYS_unshare, SYS_setns, SYS_chroot, SYS_pivot_root, SYS_mount,
	SYS_umount2, SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsconfig,
	SYS_fsmount, SYS_fspick, SYS_mount_setattr, SYS_open_by_handle_at,
	SYS_name_to_handle_at, SYS_fanotify_init, SYS_bpf, SYS_perf_event_open,
	SYS_userfaultfd, SYS_io_uring_setup, SYS_io_uring_enter,
	SYS_io_uring_register, SYS_add_key, SYS_request_key, SYS_keyctl,
	SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid,
	SYS_setresgid, SYS_setfsuid, SYS_setfsgid, SYS_setgroups, SYS_capset,
	SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load,
	SYS_kexec_file_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct,
	SYS_quotactl, SYS_syslog, SYS_settimeofday, SYS_clock_settime,
	SYS_adjtimex, SYS_clock_adjtime, SYS_sethostname, SYS_setdomainname,
	SYS_truncate, SYS_fchmodat, SYS_fchownat, SYS_utimensat, SYS_setxattr,
	SYS_lsetxattr, SYS_removexattr, SYS_lremovexattr, FCHMODAT2, SETXATTRAT,
	REMOVEXATTRAT };

enum { NDENIED = sizeof(denied) / sizeof(denied[0]), NSOCKET = 3 };

static const struct sock_filter denying =
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
static const struct sock_filter allowing =
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);

static int
common_sandbox_compare(const void *a, const void *b)
{
	return *(const unsigned short *)a - *(const unsigned short *)b;
}

/*
 * Puts a search of n sorted numbers at code, which ends the filter.  Returns its
 * length.  When the kernel loads a filter, it runs it for each call that there
 * is: with one test after the other this takes twice as long.
 */
static unsigned
put_search(struct sock_filter *code, const unsigned short *numbers, unsigned n)
{
	const unsigned half = n / 2;

	if (n > 6) {
		unsigned left = put_search(code + 1, numbers, half);

		*code = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K,
		    numbers[half], (unsigned char)left, 0);
		return 1 + left +
		    put_search(code + 1 + left, numbers + half, n - half);
	}
	for (unsigned i = 0; i < n; i++)
		code[i] =
		    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
		        numbers[i], (unsigned char)(n - i), 0);
	code[n] = allowing;
	code[n + 1] = denying;
	return n + 2;
}

/* Returns 0, or not: errno may be set. */
static int
confine_calls(int sockets)
{
	const struct sock_filter begin[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
		denying,
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		/* the x32 calls of x86-64 */
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 4, 0),
		/* nothing is typed at the terminal for its user */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCLINUX, 0, 1),
		denying,
		allowing,
	};
	enum { NBEGIN = sizeof(begin) / sizeof(begin[0]) };
	const unsigned first = sockets ? NSOCKET : 0;
	struct sock_filter code[NBEGIN + 2 * NDENIED];
	unsigned short numbers[NDENIED];
	struct sock_fprog program = { 0, code };

	memcpy(numbers, denied, sizeof(denied));
	qsort(numbers + first, NDENIED - first, sizeof(*numbers),
	    common_sandbox_compare);
	memcpy(code, begin, sizeof(begin));
	program.len = (unsigned short)(NBEGIN +
	    put_search(code + NBEGIN, numbers + first, NDENIED - first));
	/* a thread that runs already, as of --self-trace, has it as well */
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
	    SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW,
	    &program);
}
#else
static int
confine_calls(int sockets)
{
	(void)sockets;
	return 0;
}
#endif

void
sandbox_enter(const struct settings *s, const struct sink *sink,
    const char *made)
{
	if (s->no_sandbox)
		return;
	int sockets = has_socket(s);
	int failed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0;
	/* one may be there without the other */
	failed |= confine_files(s, sink, made, sockets) != 0;
	failed |= confine_calls(sockets) != 0;
	if (failed && s->verbose)
		message(NULL, "not confined: %s", strerror(errno));
}

#else

void
sandbox_enter(const struct settings *s, const struct sink *sink,
    const char *made)
{
	(void)s;
	(void)sink;
	(void)made;
}

#endif
