/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing a session's trace to a file. */
#include "trace_write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/cli/base/cli.h"
#include "recordings.h"
#include "sim/base/monotonic.h"
#include "sim/clock/clock.h"
#include "sim/cli/base/output.h"
#include "sim/trace/export/otlp.h"

#define BOOT_ID_SIZE 64

const char *const cli_trace_formats[] = {
	[CLI_TRACE_PERFETTO] = "perfetto", [CLI_TRACE_CSV] = "csv", [CLI_TRACE_OTLP] = "otlp", NULL
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
	static const char *const contents[] = { [CLI_TRACE_PERFETTO] = "JSON, which ui.perfetto.dev reads",
						[CLI_TRACE_CSV] = "CSV",
						[CLI_TRACE_OTLP] = "JSON, which collectors of OpenTelemetry read" };

	for (size_t i = 0; i < sizeof(binary) / sizeof(binary[0]); i++)
		if (has_extension(path, binary[i]))
			cli_fail("%s is %s, although its name ends in %s: bfsim writes no binary traces", path,
				 contents[format], binary[i]);
}

enum cli_trace_format cli_trace_format_of_file(const char *path)
{
	return has_extension(path, ".csv")   ? CLI_TRACE_CSV :
	       has_extension(path, ".jsonl") ? CLI_TRACE_OTLP :
					       CLI_TRACE_PERFETTO;
}

/* Print the number of missing records: not every format has a place for it. */
static void warn_if_incomplete(const struct sim_merged_trace *merged, uint64_t num_dropped)
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
	if (num_dropped)
		cli_fail("%" PRIu64 " processes of this session ended too long ago: the trace does not contain them",
			 num_dropped);
}

/* The kernel's id of this boot; "" where /proc is not to be read, and ids differ by the session's begin alone. */
static void read_boot_id(char id[BOOT_ID_SIZE])
{
	FILE *in = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!in || !fgets(id, BOOT_ID_SIZE, in))
		id[0] = '\0';
	if (in)
		fclose(in);
}

/* The session's begin is known by CLOCK_MONOTONIC. The two clocks differ by as much as they do now, unless the machine's time was
 * set since. */
static int write_otlp(const struct sim_merged_trace *merged, FILE *out)
{
	char boot[BOOT_ID_SIZE];
	struct sim_otlp_session session = { .boot = boot, .version = BFSIM_VERSION };
	struct timespec now;

	read_boot_id(boot);
	clock_gettime(CLOCK_REALTIME, &now);
	session.begin_unix_ns =
		(uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec - (sim_monotonic_ns() - merged->zero_ns);
	return sim_trace_export_otlp(merged, &session, out);
}

struct trace {
	const struct sim_merged_trace *merged;
	enum cli_trace_format format;
};

static int write_trace(const void *arg, FILE *out)
{
	const struct trace *trace = arg;
	int rc = trace->format == CLI_TRACE_CSV  ? sim_trace_export_csv(trace->merged, out) :
		 trace->format == CLI_TRACE_OTLP ? write_otlp(trace->merged, out) :
						   sim_trace_export_perfetto(trace->merged, out);

	if (rc < 0)
		cli_fail("out of memory: the trace has too many records");
	return rc;
}

int cli_trace_write(const char *dir, enum cli_trace_format format, const char *path)
{
	struct sim_merged_trace merged;
	uint64_t num_dropped;
	int status;

	if (cli_recordings_fetch(dir, &merged, &num_dropped) < 0)
		return cli_failure_status();
	warn_if_incomplete(&merged, num_dropped);
	/* The numbers of a run are for files that are compared; spans have the machine's. */
	if (format != CLI_TRACE_OTLP && merged.clock &&
	    strcmp(merged.clock, sim_clock_mode_name(SIM_CLOCK_VIRTUAL)) == 0 &&
	    sim_merged_trace_renumber(&merged) < 0) {
		sim_merged_trace_free(&merged);
		return cli_fail("out of memory: the trace has too many records");
	}
	if (path)
		warn_of_name(format, path);
	status = cli_output_write("the trace", path, write_trace, &(struct trace){ &merged, format });
	sim_merged_trace_free(&merged);
	return status;
}
