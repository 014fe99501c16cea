/* SPDX-License-Identifier: BSD-3-Clause */
/* Level limits of one backend, and global limits of all backends of a stream.
 *
 * A limit widens up to its bound. The bound of most limits is the end of the scale. The two
 * standard backends share a bound. The bound of a strict limit is its own level. A backend's setter
 * refuses a level beyond the bound; a global setter applies the bound instead.
 */
#include "shim/common/log/log_priv.h"
#include "sim/base/log.h"

enum end { LOWER, UPPER };

bool shim_log_level_ok(uint32_t level)
{
	return level >= DOCA_LOG_LEVEL_DISABLE && level <= DOCA_LOG_LEVEL_TRACE && level % 10 == 0;
}

static doca_error_t check_level(const char *what, uint32_t level)
{
	if (shim_log_level_ok(level))
		return DOCA_SUCCESS;
	sim_err("%s: %u is no log level; they are 10 (disable), 20 (critical) ... 70 (trace)", what, level);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t check_backend(const char *what, const struct doca_log_backend *backend,
				  const struct shim_log_stream *stream)
{
	if (!backend) {
		sim_err("%s: the backend is NULL", what);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (backend->stream != stream) {
		sim_err("%s: the backend is for %s records; use %s", what,
			stream == &shim_log_app ? "SDK" : "application",
			stream == &shim_log_app ? "doca_log_backend_set_sdk_level()" :
						  "the functions for lower and upper limits");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

/* Returns whether @a is a wider limit than @b. */
static bool is_wider(enum end end, uint32_t a, uint32_t b)
{
	return end == LOWER ? a > b : a < b;
}

static void set_limit(struct shim_log_limit *limit, uint32_t level)
{
	atomic_store(&limit->level, level);
	if (limit->strict)
		limit->bound = level;
}

static struct shim_log_limit *get_limit(struct doca_log_backend *backend, enum end end)
{
	return end == LOWER ? &backend->lower : &backend->upper;
}

static doca_error_t set_backend_limit(const char *what, struct doca_log_backend *backend,
				      const struct shim_log_stream *stream, enum end end, uint32_t level)
{
	doca_error_t result = check_backend(what, backend, stream);
	struct shim_log_limit *limit;
	uint32_t bound;

	if (result == DOCA_SUCCESS)
		result = check_level(what, level);
	if (result != DOCA_SUCCESS)
		return result;
	limit = get_limit(backend, end);
	pthread_mutex_lock(&shim_log_config_lock);
	bound = limit->bound;
	if (is_wider(end, level, bound))
		result = DOCA_ERROR_NOT_PERMITTED;
	else
		set_limit(limit, level);
	pthread_mutex_unlock(&shim_log_config_lock);
	if (result != DOCA_SUCCESS)
		sim_err("%s: the limit is strict at %u; it can't be widened to %u", what, bound, level);
	return result;
}

static doca_error_t set_backend_strict(const char *what, struct doca_log_backend *backend, enum end end)
{
	doca_error_t result = check_backend(what, backend, &shim_log_app);
	struct shim_log_limit *limit;

	if (result != DOCA_SUCCESS)
		return result;
	limit = get_limit(backend, end);
	pthread_mutex_lock(&shim_log_config_lock);
	limit->strict = true;
	set_limit(limit, atomic_load(&limit->level));
	pthread_mutex_unlock(&shim_log_config_lock);
	return DOCA_SUCCESS;
}

static doca_error_t set_global_limit(const char *what, struct shim_log_stream *stream, enum end end, uint32_t level)
{
	doca_error_t result = check_level(what, level);
	struct doca_log_backend *backend;
	struct shim_log_limit *limit;

	if (result != DOCA_SUCCESS)
		return result;
	pthread_mutex_lock(&shim_log_config_lock);
	atomic_store(end == LOWER ? &stream->lower : &stream->upper, level);
	for (backend = atomic_load(&stream->first); backend; backend = atomic_load(&backend->next)) {
		limit = get_limit(backend, end);
		set_limit(limit, is_wider(end, level, limit->bound) ? limit->bound : level);
	}
	pthread_mutex_unlock(&shim_log_config_lock);
	return DOCA_SUCCESS;
}

doca_error_t doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend, uint32_t level)
{
	return set_backend_limit("log backend's lower limit", backend, &shim_log_app, LOWER, level);
}

doca_error_t doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend, uint32_t upper_limit)
{
	return set_backend_limit("log backend's upper limit", backend, &shim_log_app, UPPER, upper_limit);
}

doca_error_t doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend)
{
	return set_backend_strict("log backend's strict lower limit", backend, LOWER);
}

doca_error_t doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend)
{
	return set_backend_strict("log backend's strict upper limit", backend, UPPER);
}

doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level)
{
	return set_backend_limit("SDK log backend's level", backend, &shim_log_sdk, LOWER, level);
}

doca_error_t doca_log_level_set_global_lower_limit(uint32_t level)
{
	return set_global_limit("global lower log limit", &shim_log_app, LOWER, level);
}

doca_error_t doca_log_level_set_global_upper_limit(uint32_t upper_limit)
{
	return set_global_limit("global upper log limit", &shim_log_app, UPPER, upper_limit);
}

doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level)
{
	return set_global_limit("global SDK log limit", &shim_log_sdk, LOWER, level);
}

uint32_t doca_log_level_get_global_lower_limit(void)
{
	return atomic_load(&shim_log_app.lower);
}

uint32_t doca_log_level_get_global_upper_limit(void)
{
	return atomic_load(&shim_log_app.upper);
}

uint32_t doca_log_level_get_global_sdk_limit(void)
{
	return atomic_load(&shim_log_sdk.lower);
}
