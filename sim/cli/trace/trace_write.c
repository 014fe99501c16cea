/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing the trace of a session, or of a file of recordings, to a file. */
#include "trace_write.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "recording_file.h"
#include "recordings.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/output.h"
#include "sim/clock/clock.h"
#include "sim/trace/export/otlp.h"

const char *const cli_trace_formats[] = { [CLI_TRACE_PERFETTO] = "perfetto",
					  [CLI_TRACE_CSV] = "csv",
					  [CLI_TRACE_OTLP] = "otlp",
					  [CLI_TRACE_RAW] = "raw",
					  NULL };

static const struct {
	const char *extension, *contents;
} formats[] = {
	[CLI_TRACE_PERFETTO] = { ".json", "JSON, which ui.perfetto.dev reads" },
	[CLI_TRACE_CSV] = { ".csv", "CSV" },
	[CLI_TRACE_OTLP] = { ".jsonl", "JSON, which collectors of OpenTelemetry read" },
	[CLI_TRACE_RAW] = { CLI_RECORDING_EXTENSION, "a recording of bfsim" },
};

static bool has_extension(const char *path, const char *extension)
{
	size_t len = path ? strlen(path) : 0, extension_len = strlen(extension);

	return len >= extension_len && strcmp(path + len - extension_len, extension) == 0;
}

/* Perfetto has a binary format, too, whose files have these names. Its page takes either. */
static void warn_of_name(enum cli_trace_format format, const char *path)
{
	static const char *const binary[] = { ".pb", ".pftrace", ".perfetto-trace", ".proto" };

	for (size_t i = 0; i < sizeof(binary) / sizeof(binary[0]); i++)
		if (has_extension(path, binary[i]))
			cli_fail("%s is %s, although its name ends in %s: bfsim writes no binary traces", path,
				 formats[format].contents, binary[i]);
}

enum cli_trace_format cli_trace_format_of_file(const char *path)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (has_extension(path, formats[i].extension))
			return (enum cli_trace_format)i;
	return CLI_TRACE_PERFETTO;
}

/* Print the number of missing records: not every format has a place for it. */
static void warn_if_incomplete(const struct sim_merged_trace *merged)
{
	for (uint32_t i = 0; i < merged->num_recordings; i++) {
		const struct sim_trace_recording *recording = &merged->recordings[i];

		if (recording->num_lost)
			cli_fail("process %d (%s): %" PRIu64 " records were overwritten by later ones",
				 recording->owner.pid, recording->owner.program, recording->num_lost);
		if (recording->num_bad)
			cli_fail("process %d (%s): %" PRIu64 " records are invalid and are left out",
				 recording->owner.pid, recording->owner.program, recording->num_bad);
	}
	if (merged->num_dropped)
		cli_fail("%" PRIu64 " processes of this session ended too long ago: the trace does not contain them",
			 merged->num_dropped);
}

struct trace {
	const struct sim_merged_trace *merged;
	enum cli_trace_format format;
};

static int write_trace(const void *arg, FILE *out)
{
	const struct trace *trace = arg;
	int rc = 0;

	if (trace->format == CLI_TRACE_RAW)
		cli_recording_write(trace->merged, out);
	else
		rc = trace->format == CLI_TRACE_CSV  ? sim_trace_export_csv(trace->merged, out) :
		     trace->format == CLI_TRACE_OTLP ? sim_trace_export_otlp(trace->merged, BFSIM_VERSION, out) :
						       sim_trace_export_perfetto(trace->merged, out);
	if (rc < 0)
		cli_fail("out of memory: the trace has too many records");
	return rc;
}

/* The recordings of a live session, or of a file. */
static int get_recordings(const char *source, struct sim_merged_trace *ret_merged)
{
	struct stat info;

	if (source && stat(source, &info) == 0 && S_ISREG(info.st_mode))
		return cli_recording_open(source, ret_merged);
	return cli_recordings_fetch(source, ret_merged);
}

/* Files that are compared have the numbers of the run; recordings and spans have the machine's. */
static bool has_run_numbers(const struct sim_merged_trace *merged, enum cli_trace_format format)
{
	return (format == CLI_TRACE_PERFETTO || format == CLI_TRACE_CSV) && merged->clock &&
	       strcmp(merged->clock, sim_clock_mode_name(SIM_CLOCK_VIRTUAL)) == 0;
}

int cli_trace_write(const char *source, enum cli_trace_format format, const char *path)
{
	struct sim_merged_trace merged;
	int status;

	if (get_recordings(source, &merged) < 0)
		return cli_failure_status();
	warn_if_incomplete(&merged);
	if (has_run_numbers(&merged, format) && sim_merged_trace_renumber(&merged) < 0) {
		sim_merged_trace_free(&merged);
		return cli_fail("out of memory: the trace has too many records");
	}
	if (path)
		warn_of_name(format, path);
	status = cli_output_write("the trace", path, write_trace, &(struct trace){ &merged, format });
	sim_merged_trace_free(&merged);
	return status;
}
