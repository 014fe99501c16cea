/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams: delivery of a record to the backends that show its level. */
#include "shim/common/log/log_priv.h"
#include "sim/base/fork.h"

#include <errno.h>

struct shim_log_stream shim_log_app = {
	.lower = DOCA_LOG_LEVEL_INFO,
	.upper = DOCA_LOG_LEVEL_CRIT,
};

struct shim_log_stream shim_log_sdk = {
	.lower = DOCA_LOG_LEVEL_INFO, .upper = DOCA_LOG_LEVEL_DISABLE, /* no limit: the most severe records pass too */
};

pthread_mutex_t shim_log_config_lock = PTHREAD_MUTEX_INITIALIZER;

/* Number of records that this thread is delivering. A flush handler, a custom FILE or a signal handler may log a
 * second record, which must not wait for locks that this thread holds. A third one is dropped, to end a recursion. */
static _Thread_local unsigned int depth;
#define DEPTH_MAX 2

void shim_log_stream_add(struct shim_log_stream *stream, struct doca_log_backend *backend)
{
	backend->stream = stream;
	if (stream->last)
		atomic_store(&stream->last->next, backend);
	else
		atomic_store(&stream->first, backend);
	stream->last = backend;
}

static bool backend_shows(struct doca_log_backend *backend, uint32_t level)
{
	return level >= atomic_load(&backend->upper.level) && level <= atomic_load(&backend->lower.level);
}

/* A thread that forks while it formats a line may itself be inside localtime_r(). */
static void before_fork(void)
{
	if (depth == 0)
		shim_log_zone_before_fork();
}

static void after_fork(void)
{
	if (depth == 0)
		shim_log_zone_after_fork();
}

static void reset_stream_locks(struct shim_log_stream *stream)
{
	for (struct doca_log_backend *backend = atomic_load(&stream->first); backend;
	     backend = atomic_load(&backend->next))
		shim_log_dest_forked(&backend->dest);
}

/* A thread that forks in a flush handler holds a lock, and unlocks it in the child too. */
static void reset_after_fork(void)
{
	after_fork();
	if (depth > 0)
		return;
	shim_log_dests_forked();
	reset_stream_locks(&shim_log_app);
	reset_stream_locks(&shim_log_sdk);
}

SIM_AT_FORK(SIM_FORK_LOG, .lock = &shim_log_config_lock, .before = before_fork, .parent = after_fork,
	    .child = reset_after_fork);

/* The first backend from @backend on that shows @level, or NULL. */
static struct doca_log_backend *next_showing_backend(struct doca_log_backend *backend, uint32_t level)
{
	while (backend && !backend_shows(backend, level))
		backend = atomic_load(&backend->next);
	return backend;
}

bool shim_log_stream_wants(struct shim_log_stream *stream, uint32_t level)
{
	return next_showing_backend(atomic_load(&stream->first), level) != NULL;
}

static void deliver(struct doca_log_backend *backend, uint32_t level, const struct shim_log_line *line)
{
	for (; backend; backend = next_showing_backend(atomic_load(&backend->next), level)) {
		if (depth == 1 || !backend->dest.outermost_only)
			backend->dest.put(&backend->dest, level, line);
	}
}

void shim_log_stream_vput(struct shim_log_stream *stream, const struct shim_log_location *place, uint32_t level,
			  const char *format, va_list args)
{
	struct doca_log_backend *backend = next_showing_backend(atomic_load(&stream->first), level);
	int saved_errno = errno, cancel_state;
	struct shim_log_line line;
	struct timespec now;

	if (!backend || depth == DEPTH_MAX)
		return;
	depth++;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	clock_gettime(CLOCK_REALTIME, &now);
	errno = saved_errno; /* for %m */
	shim_log_line_format(&line, place, level, &now, depth > 1, format, args);
	deliver(backend, level, &line);
	pthread_setcancelstate(cancel_state, NULL);
	depth--;
	errno = saved_errno;
}

void shim_log_stream_put(struct shim_log_stream *stream, const struct shim_log_location *place, uint32_t level,
			 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	shim_log_stream_vput(stream, place, level, format, args);
	va_end(args);
}
