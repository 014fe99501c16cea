/* SPDX-License-Identifier: BSD-3-Clause */
/* Destinations of log lines: streams, descriptors, buffers and syslog. */
#include "shim/common/log/log_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

/* Flush the application's data first, so that one write has the line alone. */
static void put_stream(FILE *file, const struct shim_log_line *line)
{
	flockfile(file);
	fflush_unlocked(file);
	fwrite_unlocked(line->text, 1, line->len, file);
	fflush_unlocked(file);
	funlockfile(file);
}

static void put_file(struct shim_log_dest *dest, uint32_t level, const struct shim_log_line *line)
{
	(void)level;
	put_stream(dest->file, line);
}

void shim_log_dest_put_stderr(struct shim_log_dest *dest, uint32_t level, const struct shim_log_line *line)
{
	(void)dest;
	(void)level;
	put_stream(stderr, line);
}

/* A full (EAGAIN) or closed descriptor loses the rest of the line. */
static void put_fd(struct shim_log_dest *dest, uint32_t level, const struct shim_log_line *line)
{
	size_t done = 0;
	ssize_t n;

	(void)level;
	while (done < line->len) {
		n = write(dest->fd, line->text + done, line->len - done);
		if (n < 0 && errno != EINTR)
			return;
		if (n > 0)
			done += n;
	}
}

static void put_buf(struct shim_log_dest *dest, uint32_t level, const struct shim_log_line *line)
{
	(void)level;
	pthread_mutex_lock(&dest->buf.lock);
	shim_log_line_copy(line, dest->buf.start, dest->buf.capacity);
	dest->buf.flush(dest->buf.start);
	pthread_mutex_unlock(&dest->buf.lock);
}

static int syslog_priority(uint32_t level)
{
	switch (level) {
	case DOCA_LOG_LEVEL_CRIT:
		return LOG_CRIT;
	case DOCA_LOG_LEVEL_ERROR:
		return LOG_ERR;
	case DOCA_LOG_LEVEL_WARNING:
		return LOG_WARNING;
	case DOCA_LOG_LEVEL_INFO:
		return LOG_INFO;
	default:
		return LOG_DEBUG;
	}
}

void shim_log_dest_forked(struct shim_log_dest *dest)
{
	if (dest->put == put_buf)
		pthread_mutex_init(&dest->buf.lock, NULL);
}

static pthread_mutex_t syslog_lock = PTHREAD_MUTEX_INITIALIZER;

void shim_log_dests_forked(void)
{
	pthread_mutex_init(&syslog_lock, NULL);
}

/* The process has one connection to syslog with one name: set it if the last record had another. */
static void put_syslog(struct shim_log_dest *dest, uint32_t level, const struct shim_log_line *line)
{
	static const char *named;

	pthread_mutex_lock(&syslog_lock);
	if (named != dest->ident) {
		openlog(dest->ident, LOG_PID, LOG_USER);
		named = dest->ident;
	}
	syslog(syslog_priority(level), "%.*s", (int)line->len - 1, line->text); /* no newline */
	pthread_mutex_unlock(&syslog_lock);
}

int shim_log_dest_file(struct shim_log_dest *dest, FILE *file)
{
	dest->put = put_file;
	dest->file = file;
	return 0;
}

int shim_log_dest_fd(struct shim_log_dest *dest, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH))
		return -EBADF;
	dest->put = put_fd;
	dest->fd = fd;
	return 0;
}

int shim_log_dest_buf(struct shim_log_dest *dest, char *start, size_t capacity, log_flush_callback flush)
{
	dest->put = put_buf;
	dest->outermost_only = true;
	dest->buf.start = start;
	dest->buf.capacity = capacity;
	dest->buf.flush = flush;
	return -pthread_mutex_init(&dest->buf.lock, NULL);
}

int shim_log_dest_syslog(struct shim_log_dest *dest, const char *ident)
{
	char *copy = strdup(ident);

	if (!copy)
		return -ENOMEM;
	dest->put = put_syslog;
	dest->outermost_only = true;
	dest->ident = copy;
	return 0;
}
