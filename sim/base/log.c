/* SPDX-License-Identifier: BSD-3-Clause */
/* Log lines of the simulator: to the sink, and warnings and errors to the recorder too. */
#include "log.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "printable.h"

static void write_to_stderr(int level, const char *file, int line, const char *func, const char *format, va_list args)
{
	const char *max_level = getenv("BFSIM_LOG_LEVEL");
	char text[1024];

	(void)file;
	(void)line;
	(void)func;
	if (level > (max_level ? atoi(max_level) : SIM_LOG_WARNING))
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
