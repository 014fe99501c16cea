/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a log line, in the format of the vendor's 3.0 release:
 *
 *   [15:44:04:857359][862197][DOCA][WRN][file.c:1743][function] text
 *
 * Its parts are local time in microseconds, thread, level, location and function. Up to release 2.2, and in
 * the work-queue libraries, a line is [time][DOCA][WRN][SOURCE:line]: text. (From 3.1 on the thread is a
 * pthread_t, and SDK records lack the function.) Public logs show the tags ERR, WRN, INF and DBG; CRT and TRC are guesses.
 */
#include "shim/common/base/compat.h"
#include "shim/common/log/log_priv.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SECONDS_A_DAY (24 * 60 * 60)

static const char *level_tag(uint32_t level)
{
	switch (level) {
	case DOCA_LOG_LEVEL_CRIT:
		return "CRT";
	case DOCA_LOG_LEVEL_ERROR:
		return "ERR";
	case DOCA_LOG_LEVEL_WARNING:
		return "WRN";
	case DOCA_LOG_LEVEL_INFO:
		return "INF";
	case DOCA_LOG_LEVEL_DEBUG:
		return "DBG";
	default:
		return "TRC";
	}
}

static atomic_long utc_offset_s, zone_minute = -1;

/* A child whose parent forked while a thread was inside localtime_r() inherits libc's lock as held. So a fork waits
 * for such threads, and no thread calls localtime_r() during a fork. These are no locks, as lines are logged under locks. */
static atomic_uint num_zone_queries;
static atomic_bool is_forking;

static bool query_libc_zone(time_t now, struct tm *ret_tm)
{
	bool answered;

	atomic_fetch_add(&num_zone_queries, 1);
	answered = !atomic_load(&is_forking) && localtime_r(&now, ret_tm);
	atomic_fetch_sub(&num_zone_queries, 1);
	return answered;
}

/* The local second of the day. The offset of a time zone changes at full minutes, so localtime_r() is called
 * once a minute. */
static int local_second_of_day(time_t now, bool reentered)
{
	long minute = now / 60;
	struct tm tm;

	if (!reentered && atomic_load(&zone_minute) != minute && query_libc_zone(now, &tm)) {
		atomic_store(&utc_offset_s, tm.tm_gmtoff);
		atomic_store(&zone_minute, minute);
	}
	return (int)((now + atomic_load(&utc_offset_s)) % SECONDS_A_DAY);
}

void shim_log_zone_before_fork(void)
{
	if (atomic_load(&zone_minute) < 0) /* a line during the fork needs the offset */
		local_second_of_day(time(NULL), false);
	atomic_store(&is_forking, true);
	while (atomic_load(&num_zone_queries) > 0)
		sched_yield();
}

void shim_log_zone_after_fork(void)
{
	atomic_store(&is_forking, false);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* End the truncated line of @len bytes at @text with "...", as far as there is room. */
static void mark_truncated(char *text, size_t len)
{
	static const char ending[] = "...\n";
	size_t n = len < sizeof(ending) - 1 ? len : sizeof(ending) - 1;

	memcpy(text + len - n, ending + sizeof(ending) - 1 - n, n);
}

/* Append text. Returns false if the line is full, so that no newline fits. */
__attribute__((format(printf, 2, 0))) static bool vappend(struct shim_log_line *line, const char *format, va_list args)
{
	size_t room = SHIM_LOG_LINE_MAX - line->len;
	int n = vsnprintf(line->text + line->len, room, format, args);

	if (n < 0) /* an argument that can't be converted, such as a bad %ls */
		n = 0;
	if ((size_t)n < room) {
		line->len += n;
		return true;
	}
	line->len = SHIM_LOG_LINE_MAX;
	return false;
}

__attribute__((format(printf, 2, 3))) static bool append(struct shim_log_line *line, const char *format, ...)
{
	va_list args;
	bool fits;

	va_start(args, format);
	fits = vappend(line, format, args);
	va_end(args);
	return fits;
}

static bool append_prefix(struct shim_log_line *line, const struct shim_log_location *place, uint32_t level,
			  const struct timespec *now, bool reentered)
{
	int second = local_second_of_day(now->tv_sec, reentered);

	return append(line, "[%02d:%02d:%02d:%06ld]", second / 3600, second / 60 % 60, second % 60,
		      now->tv_nsec / 1000) &&
	       (shim_compat->has_short_lines || append(line, "[%d]", (int)gettid())) &&
	       append(line, "[DOCA][%s][%s:%d]", level_tag(level), base_name(place->file), place->line) &&
	       (shim_compat->has_short_lines ? append(line, ": ") :
		place->func                  ? append(line, "[%s] ", place->func) :
					       append(line, " "));
}

void shim_log_line_format(struct shim_log_line *line, const struct shim_log_location *place, uint32_t level,
			  const struct timespec *now, bool reentered, const char *format, va_list args)
{
	line->len = 0;
	if (append_prefix(line, place, level, now, reentered) && vappend(line, format, args))
		line->text[line->len++] = '\n';
	else
		mark_truncated(line->text, line->len);
	line->text[line->len] = '\0';
}

void shim_log_line_copy(const struct shim_log_line *line, char *buf, size_t capacity)
{
	size_t len = line->len < capacity ? line->len : capacity - 1;

	memcpy(buf, line->text, len);
	if (len < line->len)
		mark_truncated(buf, len);
	buf[len] = '\0';
}
