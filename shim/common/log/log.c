/* SPDX-License-Identifier: BSD-3-Clause */
/* Entry of log records: those of the application through doca_log(), those of bfsim's own
 * libraries ("SDK records") through sim_log() of sim/base/log.h.
 *
 * Where an SDK record goes:
 *   an SDK backend shows its level          to the SDK backends
 *   else BFSIM_LOG_LEVEL allows its level   to standard error
 *   else, with no SDK backend at all        to standard error, if a warning or
 *                                           worse and within the global SDK limit
 * The vendor's libraries log nothing in the last case. bfsim does, since its lines explain
 * mistakes of the application.
 */
#include "shim/common/base/compat.h"
#include "shim/common/log/log_priv.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"
#include "sim/base/printable.h"
#include "sim/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* At most so many records a second of one line of source are shown. Debug and trace records have
 * no limit, as a user must enable them. */
#define SDK_RECORDS_PER_BUCKET 20
#define SDK_BUCKET_NS          UINT64_C(1000000000)

/* A stream to standard error, for records without a backend. */
static struct doca_log_backend stderr_backend = {
	.lower.level = DOCA_LOG_LEVEL_TRACE,
	.upper.level = DOCA_LOG_LEVEL_DISABLE,
	.dest.put = shim_log_dest_put_stderr,
};
static struct shim_log_stream fallback_stream = { .first = &stderr_backend };

static struct shim_log_stream *route_app_record(uint32_t level)
{
	bool is_shown = level <= atomic_load(&shim_log_app.lower) && level >= atomic_load(&shim_log_app.upper);

	return shim_compat->shows_app_records && is_shown && !atomic_load(&shim_log_app.first) ? &fallback_stream :
												 &shim_log_app;
}

doca_error_t shim_log_record(uint32_t level, int source, struct shim_log_location place, const char *format,
			     va_list args)
{
	const char *source_name = shim_log_source_name(source);

	if (!shim_log_level_ok(level) || level == DOCA_LOG_LEVEL_DISABLE) {
		sim_err("log record at %s:%d: %u is no level of a record; they are 20 (critical) ... 70 (trace)",
			place.file ? place.file : "?", place.line, level);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!source_name) {
		sim_err("log record at %s:%d: log source %d is not registered; use DOCA_LOG_REGISTER",
			place.file ? place.file : "?", place.line, source);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!place.file)
		place.file = source_name;
	if (!format) {
		sim_err("log record at %s:%d: the format is NULL", place.file, place.line);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (level <= DOCA_LOG_LEVEL_WARNING)
		sim_trace_log((int)level, format, args);
	shim_log_stream_vput(route_app_record(level), &place, level, format, args);
	return DOCA_SUCCESS;
}

doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func, const char *format,
		      ...)
{
	doca_error_t result;
	va_list args;

	va_start(args, format);
	result = shim_log_record(level, source, (struct shim_log_location){ fname, line, func }, format, args);
	va_end(args);
	return result;
}

/* BFSIM_LOG_LEVEL at the first SDK record; -1 = not set. */
static pthread_once_t env_once = PTHREAD_ONCE_INIT;
static long env_level = -1;

static void parse_env_level(void)
{
	const char *text = getenv("BFSIM_LOG_LEVEL");

	if (text && *text && sim_log_check_level())
		env_level = strtol(text, NULL, 10);
}

static bool fallback_shows_level(uint32_t level)
{
	pthread_once(&env_once, parse_env_level);
	if (env_level >= 0)
		return level <= env_level;
	return !atomic_load(&shim_log_sdk.first) && level <= DOCA_LOG_LEVEL_WARNING &&
	       level <= atomic_load(&shim_log_sdk.lower);
}

static struct shim_log_stream *route_sdk_record(uint32_t level)
{
	if (shim_log_stream_wants(&shim_log_sdk, level))
		return &shim_log_sdk;
	return fallback_shows_level(level) ? &fallback_stream : NULL;
}

/* Returns whether the record may be shown. Logs the number of dropped records. */
static bool rate_limit_allows(struct shim_log_stream *route, const struct shim_log_location *place, uint32_t level)
{
	static struct shim_log_rate rate = SHIM_LOG_RATE(SDK_RECORDS_PER_BUCKET, SDK_BUCKET_NS);
	enum shim_log_verdict verdict;
	uint64_t dropped;

	if (level > DOCA_LOG_LEVEL_INFO)
		return true;
	verdict = shim_log_rate_check(&rate, place->file, place->line, sim_monotonic_ns(), &dropped);
	if (dropped)
		shim_log_stream_put(route, place, level, "%" PRIu64 " more records from this line were dropped",
				    dropped);
	if (verdict == SHIM_LOG_FIRST_DROP)
		shim_log_stream_put(route, place, level, "over %d records a second from this line; dropping the rest",
				    SDK_RECORDS_PER_BUCKET);
	return verdict == SHIM_LOG_SHOW;
}

/* The lines of an SDK record may name programs and services of other processes. */
static void put_sdk(struct shim_log_stream *route, const struct shim_log_location *place, uint32_t level,
		    const char *format, va_list args)
{
	char text[SHIM_LOG_LINE_MAX];

	if (vsnprintf(text, sizeof(text), format, args) < 0)
		text[0] = '\0';
	sim_make_printable(text);
	if (shim_compat->put_sdk_record)
		shim_compat->put_sdk_record(route, place, level, text);
	else
		shim_log_stream_put(route, place, level, "%s", text);
}

static void sdk_sink(int level, const char *file, int line, const char *func, const char *format, va_list args)
{
	struct shim_log_location place = { file, line, func };
	int saved_errno = errno;
	struct shim_log_stream *route = route_sdk_record(level);

	if (route && rate_limit_allows(route, &place, level)) {
		errno = saved_errno;
		put_sdk(route, &place, level, format, args);
	}
	errno = saved_errno;
}

__attribute__((constructor)) static void install_sink(void)
{
	sim_log_set_sink(sdk_sink);
}
