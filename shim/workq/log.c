/* SPDX-License-Identifier: BSD-3-Clause */
/* Log records of this generation: without file and function, and with rate limits. The core
 * has the sources, backends and levels. */
#include <inttypes.h>

#include "shim/common/base/check.h"
#include "shim/common/log/log_priv.h"
#include "sim/base/monotonic.h"

/* The location of a record; the core logs the name of the source in place of the file. */
static struct shim_log_location location_of_line(int line)
{
	return (struct shim_log_location){ .line = line };
}

doca_error_t doca_log(uint32_t level, int source, int line, const char *format, ...)
{
	doca_error_t result;
	va_list args;

	va_start(args, format);
	result = shim_log_record(level, source, location_of_line(line), format, args);
	va_end(args);
	return result;
}

doca_error_t doca_log_developer(uint32_t level, int source, int line, const char *format, ...)
{
	doca_error_t result;
	va_list args;

	va_start(args, format);
	result = shim_log_record(level, source, location_of_line(line), format, args);
	va_end(args);
	return result;
}

#define DEFAULT_QUANTITY 20 /* until doca_log_set_quantity() */
#define DEFAULT_BUCKET_S 1

/* The rate limiter of the core counts by file and line: a bucket is a line of this file. */
static const char buckets[] = "rate-limited log records";
static atomic_int bucket_count;
static struct shim_log_rate rate = SHIM_LOG_RATE(DEFAULT_QUANTITY, DEFAULT_BUCKET_S *SIM_NS_PER_S);

doca_error_t doca_log_rate_bucket_register(int source, int *bucket)
{
	SHIM_NEED_OUT(bucket);
	if (!shim_log_source_name(source))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "log source %d is not registered; use DOCA_LOG_REGISTER",
				   source);
	*bucket = atomic_fetch_add(&bucket_count, 1);
	return DOCA_SUCCESS;
}

/* Log the number of dropped records of the bucket, if there are any. */
static void log_dropped(uint32_t level, int source, int line, uint64_t dropped)
{
	if (dropped)
		doca_log(level, source, line, "%" PRIu64 " records of this line were dropped", dropped);
}

doca_error_t doca_log_rate_limit(uint32_t level, int source, int line, int bucket, const char *format, ...)
{
	doca_error_t result;
	uint64_t dropped;
	va_list args;

	if (bucket < 0 || bucket >= atomic_load(&bucket_count))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "no bucket %d was registered; use the DOCA_LOG_RATE_LIMIT macros", bucket);
	if (shim_log_rate_check(&rate, buckets, bucket, sim_monotonic_ns(), &dropped) != SHIM_LOG_SHOW)
		return DOCA_SUCCESS;
	log_dropped(level, source, line, dropped);
	va_start(args, format);
	result = shim_log_record(level, source, location_of_line(line), format, args);
	va_end(args);
	return result;
}

uint16_t doca_log_get_quantity(void)
{
	uint16_t quantity;

	pthread_mutex_lock(&rate.lock);
	quantity = rate.quantity;
	pthread_mutex_unlock(&rate.lock);
	return quantity;
}

void doca_log_set_quantity(uint16_t quantity)
{
	pthread_mutex_lock(&rate.lock);
	rate.quantity = quantity;
	pthread_mutex_unlock(&rate.lock);
}

uint16_t doca_log_get_bucket_time(void)
{
	uint16_t seconds;

	pthread_mutex_lock(&rate.lock);
	seconds = rate.bucket_ns / SIM_NS_PER_S;
	pthread_mutex_unlock(&rate.lock);
	return seconds;
}

void doca_log_set_bucket_time(uint16_t bucket_time)
{
	pthread_mutex_lock(&rate.lock);
	rate.bucket_ns = bucket_time * SIM_NS_PER_S;
	pthread_mutex_unlock(&rate.lock);
}
