/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/log/log_priv.h - the path of a log record; shared by the log_*.c files.
 *
 *   doca_log()                sim_log()                      log.c
 *       |                         |
 *   source known?             route: SDK stream, else standard error
 *       |                         |
 *       |                     within the rate limit?         log_rate.c
 *       v                         v
 *   [application stream]      [SDK stream]                   log_stream.c
 *       |  backend: level within its limits?                 log_limit.c
 *       v
 *   one line of text                                         log_line.c
 *       v
 *   destination: file, fd, buffer, syslog                    log_dest.c
 *
 * Backends, source names and rate sites are never removed. So a record is delivered without a lock, at
 * any time: before main(), from an exit handler, while another thread adds a backend, in a forked child.
 * All static data is valid before constructors run, since sources register in an unknown order. Locks
 * protect registration, rates, and destinations that take one line at a time. A forked child initialises them.
 *
 * The configuration lock protects the creation of backends and the limits.
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

/* The location of a record in the source. A line without @func (NULL) omits it. */
struct shim_log_location {
	const char *file; /* the line shows the part behind the last slash */
	int line;
	const char *func;
};

/* Fill @line. @now is the time of day in UTC; the line shows local time. @reentered: this thread is inside
 * another record (a signal handler, a flush handler). Then the last known time zone is used, as libc locks its own. */
void shim_log_line_format(struct shim_log_line *line, const struct shim_log_location *place, uint32_t level,
			  const struct timespec *now, bool reentered, const char *format, va_list args)
	__attribute__((format(printf, 6, 0)));

/* Around a fork: keep all threads out of localtime_r(). */
void shim_log_zone_before_fork(void);
void shim_log_zone_after_fork(void);

/* Copy @line as a string into @buf of @capacity bytes, 1 or more, cut to fit. */
void shim_log_line_copy(const struct shim_log_line *line, char *buf, size_t capacity);

/* --- log_dest.c: destinations of lines --- */

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

/* In a forked child: initialise the lock of one destination, and the lock that all share. */
void shim_log_dest_forked(struct shim_log_dest *dest);
void shim_log_dests_forked(void);

/* Prepare a destination, which lives as long as the process. The arguments are borrowed for as long, but @ident is
 * copied. Returns 0, -EBADF (@fd is not open for writing) or -ENOMEM. */
int shim_log_dest_file(struct shim_log_dest *dest, FILE *file);
int shim_log_dest_fd(struct shim_log_dest *dest, int fd);
int shim_log_dest_buf(struct shim_log_dest *dest, char *start, size_t capacity, log_flush_callback flush);
int shim_log_dest_syslog(struct shim_log_dest *dest, const char *ident);

/* A put() that needs no preparation: writes to the stderr of the moment. */
void shim_log_dest_put_stderr(struct shim_log_dest *dest, uint32_t level, const struct shim_log_line *line);

/* --- log_limit.c: one end of the range of levels that a backend shows --- */

/* The lower limit is the largest level (the most verbose) that a backend shows, the upper limit the smallest (the
 * most severe). Any thread loads @level; the configuration lock protects the rest. */
struct shim_log_limit {
	atomic_uint level;
	uint32_t bound; /* the widest @level that is allowed */
	bool strict;    /* @bound follows @level, which can only narrow */
};

/* Returns whether @level is an enum doca_log_level. */
bool shim_log_level_ok(uint32_t level);

/* --- log_stream.c: backends of one kind, in the order they were made --- */

struct shim_log_stream {
	_Atomic(struct doca_log_backend *) first;
	struct doca_log_backend *last; /* under the configuration lock */
	atomic_uint lower;             /* the global limits, which new backends get */
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

/* Returns whether a backend shows records of @level now. */
bool shim_log_stream_wants(struct shim_log_stream *stream, uint32_t level);

/* Deliver a record to each backend that shows @level. Keeps errno. */
void shim_log_stream_vput(struct shim_log_stream *stream, const struct shim_log_location *place, uint32_t level,
			  const char *format, va_list args) __attribute__((format(printf, 4, 0)));
void shim_log_stream_put(struct shim_log_stream *stream, const struct shim_log_location *place, uint32_t level,
			 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* --- log.c: where records enter --- */

/* Log a record of the application from @source. If @place.file is NULL, the line has the source's name instead.
 * INVALID_VALUE if @level or @source does not exist, or @format is NULL. */
doca_error_t shim_log_record(uint32_t level, int source, struct shim_log_location place, const char *format,
			     va_list args) __attribute__((format(printf, 4, 0)));

/* --- log_source.c: numbers for source names --- */

/* The name of @source, valid until the process ends; NULL if it isn't registered. */
const char *shim_log_source_name(int source);

/* --- log_rate.c: rate limits of lines of source --- */

struct shim_log_rate {
	uint32_t quantity; /* records of one line of source that are shown in a bucket of time; 0 = none */
	uint64_t bucket_ns;
	pthread_mutex_t lock;
	struct shim_log_site *sites[64]; /* chains, by hash */
	atomic_bool is_listed;           /* in the list of rates in use */
	struct shim_log_rate *next;      /* in that list */
};

#define SHIM_LOG_RATE(records, ns)                                                          \
	{                                                                                   \
		.quantity = (records), .bucket_ns = (ns), .lock = PTHREAD_MUTEX_INITIALIZER \
	}

enum shim_log_verdict {
	SHIM_LOG_SHOW,
	SHIM_LOG_FIRST_DROP, /* the first dropped record of this bucket: log that instead */
	SHIM_LOG_DROP,
};

/* Count a record of @file:@line (a literal, compared by address) at @now_ns. *ret_dropped is set to the number
 * of records that were dropped in a bucket that ended since the last call, mostly 0. Without memory all are shown. */
enum shim_log_verdict shim_log_rate_check(struct shim_log_rate *rate, const char *file, int line, uint64_t now_ns,
					  uint64_t *ret_dropped);

#endif
