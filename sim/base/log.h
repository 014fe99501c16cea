/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/log.h - log lines of the simulator, and their destinations.
 *
 * Folders below the shim log here. The shim directs the lines to the SDK log
 * backends; the command and the daemon leave them on standard error (the
 * default). A line says what was wrong, where, and what to do. Any thread may
 * log. The sink is set once, before threads start.
 */
#ifndef SIM_LOG_H
#define SIM_LOG_H

#include <stdarg.h>
#include <stdbool.h>

/* The numbers of the API's log levels. */
enum sim_log_level {
	SIM_LOG_CRIT = 20,
	SIM_LOG_ERROR = 30,
	SIM_LOG_WARNING = 40,
	SIM_LOG_INFO = 50,
	SIM_LOG_DEBUG = 60,
	SIM_LOG_TRACE = 70,
};

typedef void sim_log_sink(int level, const char *file, int line, const char *func, const char *format, va_list args);

/* Send further lines to @sink. NULL restores the default: standard error, at
 * SIM_LOG_WARNING and below, or at BFSIM_LOG_LEVEL (a number of enum sim_log_level). */
void sim_log_set_sink(sim_log_sink *sink);

/* Whether BFSIM_LOG_LEVEL is a level, or not set. If not, standard error says so, once. */
bool sim_log_check_level(void);

/* Pass a copy of each warning and error to @recorder as well, at any time; NULL = to
 * none (the default). */
typedef void sim_log_recorder(int level, const char *format, va_list args);
void sim_log_set_recorder(sim_log_recorder *recorder);

void sim_log_at(int level, const char *file, int line, const char *func, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

#define sim_log(level, ...) sim_log_at((level), __FILE__, __LINE__, __func__, __VA_ARGS__)
#define sim_err(...)        sim_log(SIM_LOG_ERROR, __VA_ARGS__)
#define sim_warn(...)       sim_log(SIM_LOG_WARNING, __VA_ARGS__)
#define sim_info(...)       sim_log(SIM_LOG_INFO, __VA_ARGS__)
#define sim_dbg(...)        sim_log(SIM_LOG_DEBUG, __VA_ARGS__)

#endif
