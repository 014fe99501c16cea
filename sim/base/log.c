/* SPDX-License-Identifier: BSD-3-Clause */
/* Log lines of the simulator: to the sink, and warnings and errors to the recorder too. */
#include "log.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "env_check.h"
#include "printable.h"

#define TEXT_SIZE 2304 /* an error of a topology may list all its fields */

/* Returns -1 for a text that is no level. */
static int env_level(void)
{
	const char *text = getenv("BFSIM_LOG_LEVEL");
	char *end = NULL;
	long level = text && text[0] ? strtol(text, &end, 10) : SIM_LOG_WARNING;

	return !end || (end != text && !*end && level >= 0 && level <= SIM_LOG_TRACE) ? (int)level : -1;
}

bool sim_log_check_level(void)
{
	static atomic_flag was_reported = ATOMIC_FLAG_INIT;

	if (env_level() >= 0)
		return true;
	if (!atomic_flag_test_and_set(&was_reported) && !sim_env_was_named("BFSIM_LOG_LEVEL"))
		fprintf(stderr,
			"bfsim: BFSIM_LOG_LEVEL=%s: not a level; give 20 (critical), 30 (errors), 40 (warnings), 50 "
			"(information), 60 (debugging) or 70 (traces)\n",
			getenv("BFSIM_LOG_LEVEL"));
	return false;
}

static int max_level(void)
{
	return sim_log_check_level() ? env_level() : SIM_LOG_WARNING;
}

static void write_to_stderr(int level, const char *file, int line, const char *func, const char *format, va_list args)
{
	char text[TEXT_SIZE];

	(void)file;
	(void)line;
	(void)func;
	if (level > max_level())
		return;
	vsnprintf(text, sizeof(text), format, args);
	sim_make_printable(text);
	fprintf(stderr, "bfsim: %s\n", text);
}

static sim_log_sink *log_sink = write_to_stderr;
static _Atomic(sim_log_recorder *) log_recorder;

void sim_log_set_sink(sim_log_sink *sink)
{
	log_sink = sink ? sink : write_to_stderr;
}

void sim_log_set_recorder(sim_log_recorder *recorder)
{
	atomic_store(&log_recorder, recorder);
}

void sim_log_at(int level, const char *file, int line, const char *func, const char *format, ...)
{
	sim_log_recorder *record = level <= SIM_LOG_WARNING ? atomic_load(&log_recorder) : NULL;
	va_list args;

	va_start(args, format);
	log_sink(level, file, line, func, format, args);
	va_end(args);
	if (record) {
		va_start(args, format);
		record(level, format, args);
		va_end(args);
	}
}
