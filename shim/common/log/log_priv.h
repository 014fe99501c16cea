/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/log/log_priv.h - how a log record finds its way; shared by the log_*.c files.
 *
 *   doca_log()                sim_log()                      log.c
 *       |                         |
 *   source known?             picked: SDK stream, else standard error
 *       |                         |
 *       |                     not too often?                 log_rate.c
 *       v                         v
 *   [application stream]      [SDK stream]                   log_stream.c
 *       |  backend: level within its limits?                 log_limit.c
 *       v
 *   one line of text                                         log_line.c
 *       v
 *   destination: file, fd, buffer, syslog                    log_dest.c
 *
 * Nothing here is ever removed: backends, source names and rate sites stay
 * until the process ends, reachable from static variables. So a record is
 * delivered without a lock, at any time: before main(), from an exit handler,
 * while another thread adds a backend, in the child of a fork. Everything
 * starts out valid as static data, since sources register before main() in an
 * order nobody controls. The few locks that there are (of those who register, of
 * rates, of destinations that take one line at a time) are new in a forked child.
 *
 * The configuration lock orders those who create backends and set limits.
 */
#ifndef SHIM_COMMON_LOG_PRIV_H
#define SHIM_COMMON_LOG_PRIV_H

#include <doca_log.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* --- log_line.c: the text of one record --- */

/* Bytes of a line with its newline: PIPE_BUF, so that one write of it is never
 * mixed with another process's line. A longer record is cut and ends in "...". */
#define SHIM_LOG_LINE_MAX 4096

struct shim_log_line {
	size_t len;                       /* without the terminating zero */
	char text[SHIM_LOG_LINE_MAX + 1]; /* ends in a newline and a zero */
};

/* Where a record was written. @func may be NULL: the line is then without it. */
struct shim_log_location {
	const char *file; /* only what follows its last slash is shown */
	int line;
	const char *func;
};

/* Fill @line. @now is the time of day in UTC; it is shown as local time.
 * @reentered says that this thread is inside another record (a signal handler,
 * a flush handler): the time zone, which is behind a lock in libc, is then
 * taken as last seen. */
void shim_log_line_format(struct shim_log_line *line, const struct shim_log_location *place, uint32_t level,
			  const struct timespec *now, bool reentered, const char *format, va_list args)
	__attribute__((format(printf, 6, 0)));

/* Around a fork: nobody is in libc for the time zone then. */
void shim_log_zone_before_fork(void);
void shim_log_zone_after_fork(void);

/* Copy @line as a string into @buf of @capacity bytes, 1 or more, cut to fit. */
void shim_log_line_copy(const struct shim_log_line *line, char *buf, size_t capacity);

/* --- log_dest.c: where lines go --- */

struct shim_log_dest {
	void (*put)(struct shim_log_dest *dest, uint32_t level, const struct shim_log_line *line);
	bool outermost_only; /* not for records made while this thread delivers another one */
	union {
		FILE *file;
		int fd;
		const char *ident; /* of syslog */
		struct {
			char *start;
			size_t capacity;
			log_flush_callback flush;
			pthread_mutex_t lock; /* held from the copy to the end of flush() */
		} buf;
	};
};

/* In a forked child: another thread of the parent may have held the destination's lock, or that of all. */
void shim_log_dest_forked(struct shim_log_dest *dest);
void shim_log_dests_forked(void);

/* Prepare a destination. What they are given is borrowed for good, save
 * @ident, which is copied. They return 0, -EBADF (@fd can't be written) or
 * -ENOMEM. There is no fini: a destination lives as long as the process. */
int shim_log_dest_file(struct shim_log_dest *dest, FILE *file);
int shim_log_dest_fd(struct shim_log_dest *dest, int fd);
int shim_log_dest_buf(struct shim_log_dest *dest, char *start, size_t capacity, log_flush_callback flush);
int shim_log_dest_syslog(struct shim_log_dest *dest, const char *ident);

/* A put() that needs no preparation: what stderr is when a line comes. */
void shim_log_dest_put_stderr(struct shim_log_dest *dest, uint32_t level, const struct shim_log_line *line);

/* --- log_limit.c: one end of the range of levels that a backend shows --- */

/* The lower limit is the verbose end (the largest level shown), the upper
 * limit the severe end (the smallest). Readers load @level; the rest is under
 * the configuration lock. */
struct shim_log_limit {
	atomic_uint level;
	uint32_t bound; /* @level may not get wider than this */
	bool strict;    /* @bound follows @level: what was given up stays so */
};

/* Is @level a doca_log_level? */
bool shim_log_level_ok(uint32_t level);

/* --- log_stream.c: backends of one kind, in the order they were made --- */

struct shim_log_stream {
	_Atomic(struct doca_log_backend *) first;
	struct doca_log_backend *last; /* under the configuration lock */
	atomic_uint lower;             /* the global limits: new backends start from them */
	atomic_uint upper;
};

struct doca_log_backend {
	_Atomic(struct doca_log_backend *) next;
	struct shim_log_stream *stream;
	struct shim_log_limit lower;
	struct shim_log_limit upper;
	struct shim_log_dest dest;
};

extern struct shim_log_stream shim_log_app;
extern struct shim_log_stream shim_log_sdk;
extern pthread_mutex_t shim_log_config_lock;

/* Append @backend, whose limits are set, under the configuration lock. */
void shim_log_stream_add(struct shim_log_stream *stream, struct doca_log_backend *backend);

/* Before a fork, and after it in the parent and in the child. */
void shim_log_before_fork(void);
void shim_log_after_fork(void);

/* In a forked child: the locks of all backends. */
void shim_log_streams_forked(void);

/* Does any backend show records of @level now? */
bool shim_log_stream_wants(struct shim_log_stream *stream, uint32_t level);

/* Deliver a record to each backend that shows @level. Keeps errno. */
void shim_log_stream_vput(struct shim_log_stream *stream, const struct shim_log_location *place, uint32_t level,
			  const char *format, va_list args) __attribute__((format(printf, 4, 0)));
void shim_log_stream_put(struct shim_log_stream *stream, const struct shim_log_location *place, uint32_t level,
			 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* log_rename.c, in the work-queue libraries: the same for a record of the SDK. Names of functions
 * of the current generation become the names of the work-queue generation. */
void shim_log_stream_vput_renamed(struct shim_log_stream *stream, const struct shim_log_location *place, uint32_t level,
				  const char *format, va_list args) __attribute__((format(printf, 4, 0)));

/* --- log.c: where records enter --- */

/* A record of the application from @source, to its stream. @place.file may be
 * NULL: the source's name stands for it. DOCA_ERROR_INVALID_VALUE for a level or
 * a source that is none, and for a NULL format. */
doca_error_t shim_log_record(uint32_t level, int source, struct shim_log_location place, const char *format,
			     va_list args) __attribute__((format(printf, 4, 0)));

/* --- log_source.c: numbers for source names --- */

/* In a forked child: the lock of those who register. */
void shim_log_sources_forked(void);

/* The name that @source was registered with, good for ever; NULL if it isn't registered. */
const char *shim_log_source_name(int source);

/* --- log_rate.c: how often one place in the source may speak --- */

struct shim_log_rate {
	uint32_t quantity; /* records of one place shown in a bucket of time; 0 = none */
	uint64_t bucket_ns;
	pthread_mutex_t lock;
	struct shim_log_site *sites[64]; /* chains, by hash */
	atomic_bool is_listed;           /* since it was first asked ... */
	struct shim_log_rate *next;      /* ... among all that were */
};

#define SHIM_LOG_RATE(records, ns)                                                          \
	{                                                                                   \
		.quantity = (records), .bucket_ns = (ns), .lock = PTHREAD_MUTEX_INITIALIZER \
	}

enum shim_log_verdict {
	SHIM_LOG_SHOW,
	SHIM_LOG_FIRST_DROP, /* the first one too many of this bucket: say so in its stead */
	SHIM_LOG_DROP,
};

/* May @file:@line (a literal, compared by address) speak at @now_ns?
 * *ret_dropped is how many of it were dropped in a bucket that has ended and
 * was not yet told of; mostly 0. Without memory for its books it says yes. */
enum shim_log_verdict shim_log_rate_check(struct shim_log_rate *rate, const char *file, int line, uint64_t now_ns,
					  uint64_t *ret_dropped);

/* In a forked child: the locks of all of them. */
void shim_log_rates_forked(void);

#endif
