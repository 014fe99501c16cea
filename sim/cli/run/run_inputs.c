/* SPDX-License-Identifier: BSD-3-Clause */
/* Checking the inputs of a run. */
#include "run_inputs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/cli/base/cli.h"
#include "sim/cli/base/output.h"
#include "sim/cli/base/session_client.h"
#include "sim/cli/fault/fault_check.h"

/* The topology of @file, or the built-in one for NULL. Returns NULL with a message. */
static struct pcie_topology *read_topology(const char *file)
{
	struct stat info;

	if (!file)
		return cli_topology_built_in();
	if (stat(file, &info) == 0 && !S_ISREG(info.st_mode)) {
		cli_fail("topology file %s: not a file; the session's daemon reads it again", file);
		return NULL;
	}
	return cli_topology_of_file(file);
}

static int check_outputs(const struct cli_run_cfg *cfg)
{
	const char *trace = cfg->trace_path, *report = cfg->report_path;
	int rc = cli_output_path_check("the trace", trace);

	rc |= cli_output_path_check("the report", report);
	rc |= cli_output_path_check("the metrics", cfg->metrics_path);
	for (size_t i = 0; i < cfg->check->num_reports; i++)
		rc |= cli_output_path_check("the checker's report", cfg->check->reports[i]);
	for (size_t i = 0; trace && i < cfg->check->num_reports; i++)
		if (strcmp(trace, cfg->check->reports[i]) == 0) {
			cli_fail("%s is given for the trace and for the checker's report", trace);
			rc = -1;
		}
	if (trace && report && strcmp(trace, report) == 0) {
		cli_fail("%s is given for the trace and for the report", trace);
		rc = -1;
	}
	return rc;
}

/* One line if the file, or else a command, names an address or a name that was a default of earlier versions. */
static void say_former_default(const struct pcie_topology *topology, const struct cli_run_cfg *cfg)
{
	char note[PCIE_NOTE_SIZE];
	bool found = topology->note[0] != '\0';

	snprintf(note, sizeof(note), "%s", topology->note);
	for (size_t i = 0; !found && i < cfg->num_commands; i++)
		found = pcie_topology_find_former(topology, cfg->commands[i].text, note);
	if (found)
		fprintf(stderr, "bfsim run: note: %s (doc/topology.md, Defaults that changed)\n", note);
}

int cli_run_check_inputs(const struct cli_run_cfg *cfg)
{
	const char *where = cfg->topology ? cfg->topology : "the built-in topology";
	struct pcie_topology *topology = read_topology(cfg->topology);
	int rc = topology ? 0 : -1;

	for (size_t i = 0; topology && i < cfg->num_commands; i++)
		if (!cli_check_side(topology, where, cfg->commands[i].side))
			rc = -1;
	for (size_t i = 0; topology && i < cfg->faults->count; i++) {
		char error[CLI_FAULT_ERROR_SIZE];

		if (cli_fault_check(&cfg->faults->list[i].rule, topology, cfg->clock, error) == 0)
			continue;
		cli_fail("%s", error);
		rc = -1;
	}
	if (rc == 0 && !cfg->verdict.is_quiet)
		say_former_default(topology, cfg);
	pcie_topology_destroy(topology);
	return check_outputs(cfg) < 0 ? -1 : rc;
}
