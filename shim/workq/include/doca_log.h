/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_log.h - log records of the application.
 *
 *   DOCA_LOG_REGISTER(MY_APP::MAIN);          once per source file, at file scope
 *   ...
 *   DOCA_LOG_ERR("no device at %s", addr);
 *
 * A backend is one destination of records, and exists until the process ends.
 * Until the program creates one, records down to the global level (at first
 * INFO) go to standard error. Records of the
 * libraries do not go there: their warnings and errors go to standard error
 * (BFSIM_LOG_LEVEL, a number of enum doca_log_level, sets their level).
 *
 * A smaller number is a more severe level. A backend shows the records between
 * its two limits, both included:
 *
 *   upper limit (most severe, at first CRIT) <= level <= level of the backend (at first INFO)
 *
 * A new backend starts from the global limits. Setting a global limit changes
 * every existing backend too; a limit that was made immutable no longer
 * admits more records to its backend.
 *
 * Unless a comment states otherwise, functions return DOCA_ERROR_INVALID_VALUE
 * for a NULL or out-of-range argument and DOCA_ERROR_NO_MEMORY when a backend
 * can't be made. Any thread may log; one at a time creates and configures.
 */
#ifndef DOCA_LOG_H_
#define DOCA_LOG_H_

#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_logger_backend;

enum doca_log_level {
	DOCA_LOG_LEVEL_CRIT = 20,
	DOCA_LOG_LEVEL_ERROR = 30,
	DOCA_LOG_LEVEL_WARNING = 40,
	DOCA_LOG_LEVEL_INFO = 50,
	DOCA_LOG_LEVEL_DEBUG = 60,
};

/* --- Writing records --- */

/* Name this source file's records. @SOURCE is a bare token, colons allowed
 * (A::B). The source is registered when the program loads and destroyed when it
 * ends. C and C++; a semicolon may follow or not. */
#define DOCA_LOG_REGISTER(SOURCE)                                             \
	static int log_source;                                                \
	static void __attribute__((constructor)) doca_log_source_load_(void)  \
	{                                                                     \
		doca_log_source_register(#SOURCE, &log_source);               \
	}                                                                     \
	static void __attribute__((destructor)) doca_log_source_unload_(void) \
	{                                                                     \
		doca_log_source_destroy(log_source);                          \
	}                                                                     \
	DOCA_LOG_OPTIONAL_SEMICOLON_

/* ISO C has no empty declaration at file scope; __extension__ prevents the warning. */
#ifdef __cplusplus
#define DOCA_LOG_OPTIONAL_SEMICOLON_
#else
#define DOCA_LOG_OPTIONAL_SEMICOLON_ __extension__
#endif

/* One record: a level and printf()'s arguments, no newline at the end. */
#define DOCA_LOG(level, ...) doca_log(level, log_source, __LINE__, __VA_ARGS__)

#define DOCA_LOG_CRIT(...) DOCA_LOG(DOCA_LOG_LEVEL_CRIT, __VA_ARGS__)
#define DOCA_LOG_ERR(...)  DOCA_LOG(DOCA_LOG_LEVEL_ERROR, __VA_ARGS__)
#define DOCA_LOG_WARN(...) DOCA_LOG(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)
#define DOCA_LOG_INFO(...) DOCA_LOG(DOCA_LOG_LEVEL_INFO, __VA_ARGS__)
#define DOCA_LOG_DBG(...)  DOCA_LOG(DOCA_LOG_LEVEL_DEBUG, __VA_ARGS__)

/* One record of a line that may be frequent: beyond doca_log_set_quantity() records
 * in doca_log_set_bucket_time(), records of this line are dropped. */
#define DOCA_LOG_RATE_LIMIT(level, ...)                                                          \
	do {                                                                                     \
		static int doca_log_bucket_ = -1;                                                \
		if (doca_log_bucket_ == -1)                                                      \
			doca_log_rate_bucket_register(log_source, &doca_log_bucket_);            \
		doca_log_rate_limit(level, log_source, __LINE__, doca_log_bucket_, __VA_ARGS__); \
	} while (0)

#define DOCA_LOG_RATE_LIMIT_CRIT(...) DOCA_LOG_RATE_LIMIT(DOCA_LOG_LEVEL_CRIT, __VA_ARGS__)
#define DOCA_LOG_RATE_LIMIT_ERR(...)  DOCA_LOG_RATE_LIMIT(DOCA_LOG_LEVEL_ERROR, __VA_ARGS__)
#define DOCA_LOG_RATE_LIMIT_WARN(...) DOCA_LOG_RATE_LIMIT(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)
#define DOCA_LOG_RATE_LIMIT_INFO(...) DOCA_LOG_RATE_LIMIT(DOCA_LOG_LEVEL_INFO, __VA_ARGS__)
#define DOCA_LOG_RATE_LIMIT_DBG(...)  DOCA_LOG_RATE_LIMIT(DOCA_LOG_LEVEL_DEBUG, __VA_ARGS__)

/* Developers' records cost nothing unless the program asks for them: the arguments are not even compiled. */
#ifdef DOCA_LOGGING_ALLOW_DLOG
#define DOCA_DLOG(level, ...) doca_log_developer(level, log_source, __LINE__, __VA_ARGS__)
#else
#define DOCA_DLOG(level, ...) \
	do {                  \
	} while (0)
#endif

#define DOCA_DLOG_CRIT(...) DOCA_DLOG(DOCA_LOG_LEVEL_CRIT, __VA_ARGS__)
#define DOCA_DLOG_ERR(...)  DOCA_DLOG(DOCA_LOG_LEVEL_ERROR, __VA_ARGS__)
#define DOCA_DLOG_WARN(...) DOCA_DLOG(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)
#define DOCA_DLOG_INFO(...) DOCA_DLOG(DOCA_LOG_LEVEL_INFO, __VA_ARGS__)
#define DOCA_DLOG_DBG(...)  DOCA_DLOG(DOCA_LOG_LEVEL_DEBUG, __VA_ARGS__)

/* Called by the macros above. @source is the number that
 * doca_log_source_register() returned for @source_name, a copy of which is kept;
 * @bucket one of doca_log_rate_bucket_register(), which counts one line's
 * records and lives until the process ends. */
__DOCA_EXPERIMENTAL
doca_error_t doca_log(uint32_t level, int source, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

__DOCA_EXPERIMENTAL
doca_error_t doca_log_developer(uint32_t level, int source, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A record that is dropped is no error. DOCA_ERROR_INVALID_VALUE also for a
 * @bucket that was not registered. */
__DOCA_EXPERIMENTAL
doca_error_t doca_log_rate_limit(uint32_t level, int source, int line, int bucket, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

__DOCA_EXPERIMENTAL
doca_error_t doca_log_rate_bucket_register(int source, int *bucket);

__DOCA_EXPERIMENTAL
doca_error_t doca_log_source_register(const char *source_name, int *source);

__DOCA_EXPERIMENTAL
doca_error_t doca_log_source_destroy(int source);

/* --- Rate limits, for all buckets --- */

/* The length of a bucket in seconds (at first 1), and the records of one line
 * shown in it (at first 20); 0 seconds drop nothing. The next record of the line
 * reports the number of dropped ones. */
__DOCA_EXPERIMENTAL
uint16_t doca_log_get_bucket_time(void);

__DOCA_EXPERIMENTAL
void doca_log_set_bucket_time(uint16_t bucket_time);

__DOCA_EXPERIMENTAL
uint16_t doca_log_get_quantity(void);

__DOCA_EXPERIMENTAL
void doca_log_set_quantity(uint16_t quantity);

/* --- Backends --- */

/* Gets the contents of the buffer of a backend: a string in @buffer. */
typedef void (*log_flush_callback)(char *buffer);

/* To this process's standard streams; there is no handle, so it follows the global limits alone. */
__DOCA_EXPERIMENTAL
doca_error_t doca_log_create_standard_backend(void);

/* To an open stream, to a file descriptor, or to a buffer of @capacity bytes
 * that @handler empties. The caller owns all of them and keeps them valid until the
 * process ends. */
__DOCA_EXPERIMENTAL
doca_error_t doca_log_create_file_backend(FILE *fptr, struct doca_logger_backend **backend);

__DOCA_EXPERIMENTAL
doca_error_t doca_log_create_fd_backend(int fd, struct doca_logger_backend **backend);

__DOCA_EXPERIMENTAL
doca_error_t doca_log_create_buffer_backend(char *buffer, size_t capacity, log_flush_callback handler,
					    struct doca_logger_backend **backend);

/* To syslog(3), records marked with @name. */
__DOCA_EXPERIMENTAL
doca_error_t doca_log_create_syslog_backend(const char *name, struct doca_logger_backend **backend);

/* --- Limits of one backend; levels are enum doca_log_level --- */

/* The least severe level that is shown, and the most severe one. */
__DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_level_set(struct doca_logger_backend *logger, uint32_t level);

__DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_upper_level_limit(struct doca_logger_backend *logger, uint32_t upper_level_limit);

/* From now on this limit can only narrow: widening it here is
 * DOCA_ERROR_NOT_PERMITTED, and a wider global limit has no effect on it. */
__DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_lower_level_immutable(struct doca_logger_backend *logger);

__DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_upper_level_immutable(struct doca_logger_backend *logger);

/* --- Global limits: for all backends, present and future --- */

__DOCA_EXPERIMENTAL
doca_error_t doca_log_global_level_set(uint32_t level);

__DOCA_EXPERIMENTAL
uint32_t doca_log_global_level_get(void);

__DOCA_EXPERIMENTAL
doca_error_t doca_log_global_set_upper_level_limit(uint32_t upper_level_limit);

#ifdef __cplusplus
}
#endif

#endif
