/* SPDX-License-Identifier: BSD-3-Clause */
#include "log.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/trace/trace.h"

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
	fprintf(stderr, "bfsim: %s\n", text);
}

static sim_log_sink *log_sink = write_to_stderr;

void sim_log_set_sink(sim_log_sink *sink)
{
	log_sink = sink ? sink : write_to_stderr;
}

void sim_log_at(int level, const char *file, int line, const char *func, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_sink(level, file, line, func, format, args);
	va_end(args);
	if (level <= SIM_LOG_WARNING) {
		va_start(args, format);
		sim_trace_log(level, format, args);
		va_end(args);
	}
}
