/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_log.h - log records of applications and of the libraries.
 *
 *   DOCA_LOG_REGISTER(MY_APP::MAIN);          once per source file, at file scope
 *   ...
 *   DOCA_LOG_ERR("no device at %s", addr);
 *
 * There are two streams: records of the application (the DOCA_LOG macros) and
 * records of the libraries, called SDK records. A backend is one destination of
 * one stream; the functions ending in _sdk make backends of the SDK stream. A
 * program that wants to see a stream creates a backend for it. Backends live
 * until the process ends.
 *
 * A smaller number is a more severe level. An application backend shows the
 * records between its two limits, both included, an SDK backend those up to its
 * one limit:
 *
 *   upper limit (most severe, at first CRIT) <= level <= lower limit (at first INFO)
 *
 * A new backend starts from the global limits. Setting a global limit changes
 * every existing backend of the stream too; a limit that was made strict no
 * longer admits more records to its backend.
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

struct doca_log_backend;

enum doca_log_level {
	DOCA_LOG_LEVEL_DISABLE = 10, /* a limit only: nothing passes */
	DOCA_LOG_LEVEL_CRIT = 20,
	DOCA_LOG_LEVEL_ERROR = 30,
	DOCA_LOG_LEVEL_WARNING = 40,
	DOCA_LOG_LEVEL_INFO = 50,
	DOCA_LOG_LEVEL_DEBUG = 60,
	DOCA_LOG_LEVEL_TRACE = 70,
};

/* --- Writing records --- */

/* Name this source file's records. @source is a bare token, colons allowed
 * (A::B). The source is registered when the program loads and unregistered when
 * it ends. C and C++; a semicolon may follow or not. */
#define DOCA_LOG_REGISTER(source)                                             \
	static int log_source;                                                \
	static void __attribute__((constructor)) doca_log_source_load_(void)  \
	{                                                                     \
		doca_log_register_source(#source, &log_source);               \
	}                                                                     \
	static void __attribute__((destructor)) doca_log_source_unload_(void) \
	{                                                                     \
		doca_log_unregister_source(log_source);                       \
	}                                                                     \
	DOCA_LOG_OPTIONAL_SEMICOLON_

/* ISO C has no empty declaration at file scope; __extension__ prevents the warning. */
#ifdef __cplusplus
#define DOCA_LOG_OPTIONAL_SEMICOLON_
#else
#define DOCA_LOG_OPTIONAL_SEMICOLON_ __extension__
#endif

/* One record: a level and printf()'s arguments, no newline at the end. */
#define DOCA_LOG(level, ...) doca_log(level, log_source, __FILE__, __LINE__, __func__, __VA_ARGS__)

#define DOCA_LOG_CRIT(...) DOCA_LOG(DOCA_LOG_LEVEL_CRIT, __VA_ARGS__)
#define DOCA_LOG_ERR(...)  DOCA_LOG(DOCA_LOG_LEVEL_ERROR, __VA_ARGS__)
#define DOCA_LOG_WARN(...) DOCA_LOG(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)
#define DOCA_LOG_INFO(...) DOCA_LOG(DOCA_LOG_LEVEL_INFO, __VA_ARGS__)
#define DOCA_LOG_DBG(...)  DOCA_LOG(DOCA_LOG_LEVEL_DEBUG, __VA_ARGS__)

/* Trace records cost nothing unless the program asks for them: the arguments are not even compiled. */
#ifdef DOCA_LOGGING_ALLOW_TRACE
#define DOCA_LOG_TRC(...) DOCA_LOG(DOCA_LOG_LEVEL_TRACE, __VA_ARGS__)
#else
#define DOCA_LOG_TRC(...) \
	do {              \
	} while (0)
#endif

/* Called by the macros above. @source is the number that
 * doca_log_register_source() returned for @source_name, of which it keeps a copy. */
DOCA_EXPERIMENTAL
doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func, const char *format,
		      ...) __attribute__((format(printf, 6, 7)));

DOCA_EXPERIMENTAL
doca_error_t doca_log_register_source(const char *source_name, int *source);

DOCA_EXPERIMENTAL
doca_error_t doca_log_unregister_source(int source);

/* --- Backends of the application stream --- */

/* Gets the contents of the buffer of a backend: a string in @buf. */
typedef void (*log_flush_callback)(char *buf);

/* To this process's standard streams; there is no handle, so it follows the global limits alone. */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_standard(void);

/* To an open stream, to a file descriptor, or to a buffer of @capacity bytes
 * that @handler empties. The caller owns all of them and keeps them valid until the
 * process ends. */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_file(FILE *fptr, struct doca_log_backend **backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_fd(int fd, struct doca_log_backend **backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buf(char *buf, size_t capacity, log_flush_callback handler,
					      struct doca_log_backend **backend);

/* To syslog(3), records marked with @name. */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_syslog(const char *name, struct doca_log_backend **backend);

/* --- Backends of the SDK stream: the same destinations --- */

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buf_sdk(char *buf, size_t capacity, log_flush_callback handler,
						  struct doca_log_backend **backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_syslog_sdk(const char *name, struct doca_log_backend **backend);

/* --- Limits of one backend; levels are enum doca_log_level --- */

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend, uint32_t level);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend, uint32_t upper_limit);

/* From now on this limit can only narrow: widening it here is
 * DOCA_ERROR_NOT_PERMITTED, and a wider global limit has no effect on it. */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend);

/* The one limit of an SDK backend. */
DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level);

/* --- Global limits: for all backends of a stream, present and future --- */

DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_lower_limit(uint32_t level);

DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_upper_limit(uint32_t upper_limit);

DOCA_EXPERIMENTAL
doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level);

DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_lower_limit(void);

DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_upper_limit(void);

DOCA_EXPERIMENTAL
uint32_t doca_log_level_get_global_sdk_limit(void);

/* ============ Of release 2.5 only: with_buf was spelled with_buffer ============ */

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buffer(char *buffer, size_t capacity, log_flush_callback handler,
						 struct doca_log_backend **backend);

DOCA_EXPERIMENTAL
doca_error_t doca_log_backend_create_with_buffer_sdk(char *buffer, size_t capacity, log_flush_callback handler,
						     struct doca_log_backend **backend);

#ifdef __cplusplus
}
#endif

#endif
