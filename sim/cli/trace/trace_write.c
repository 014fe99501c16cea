/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing a session's trace to a file. */
#include "trace_write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "sim/cli/base/cli.h"
#include "recordings.h"
#include "sim/base/output_file.h"
#include "sim/cli/base/session_client.h"

int cli_trace_format_parse(const char *text, enum cli_trace_format *ret_format)
{
	if (strcmp(text, "perfetto") == 0)
		*ret_format = CLI_TRACE_PERFETTO;
	else if (strcmp(text, "csv") == 0)
		*ret_format = CLI_TRACE_CSV;
	else
		return -1;
	return 0;
}

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
				 format == CLI_TRACE_CSV ? "CSV" : "JSON, which ui.perfetto.dev reads", binary[i]);
}

enum cli_trace_format cli_trace_format_of_file(const char *path)
{
	return has_extension(path, ".csv") ? CLI_TRACE_CSV : CLI_TRACE_PERFETTO;
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

static int write_trace(const struct sim_merged_trace *merged, enum cli_trace_format format, FILE *out)
{
	int rc = format == CLI_TRACE_CSV ? sim_trace_export_csv(merged, out) : sim_trace_export_perfetto(merged, out);

	if (rc < 0)
		return cli_fail("out of memory: the trace has too many records");
	return ferror(out) ? cli_fail("cannot write the trace: %s", strerror(errno)) : CLI_OK;
}

static int write_file(const struct sim_merged_trace *merged, enum cli_trace_format format, const char *path)
{
	struct sim_output_file file;
	int status, rc = sim_output_file_open(path, &file);

	if (rc < 0)
		return cli_fail("cannot write the trace to %s: %s", path, strerror(-rc));
	warn_of_name(format, path);
	status = write_trace(merged, format, file.stream);
	if (status != CLI_OK) {
		sim_output_file_abort(&file);
		return status;
	}
	rc = sim_output_file_close(&file);
	return rc < 0 ? cli_fail("cannot write the trace to %s: %s", path, strerror(-rc)) : CLI_OK;
}

int cli_trace_write(const char *dir, enum cli_trace_format format, const char *path)
{
	int dir_fd = cli_session_open(dir), rc, status;
	struct sim_merged_trace merged;
	uint64_t num_dropped = 0;

	if (dir_fd < 0)
		return cli_failure_status();
	rc = cli_recordings_fetch(dir_fd, dir, &merged, &num_dropped);
	close(dir_fd);
	if (rc < 0)
		return cli_failure_status();
	warn_if_incomplete(&merged, num_dropped);
	if (merged.clock && strcmp(merged.clock, sim_clock_mode_name(SIM_CLOCK_VIRTUAL)) == 0 &&
	    sim_merged_trace_renumber(&merged) < 0) {
		sim_merged_trace_free(&merged);
		return cli_fail("out of memory: the trace has too many records");
	}
	status = path && strcmp(path, "-") != 0 ? write_file(&merged, format, path) :
						  write_trace(&merged, format, stdout);
	sim_merged_trace_free(&merged);
	return status;
}
