/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the hits of a run, and reports them. */
#include "check_results.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/check/hit_list.h"
#include "sim/cli/base/cli.h"

int cli_check_hits_open(struct cli_check_hits *ret_hits)
{
	ret_hits->fd = memfd_create("bfsim-hits", MFD_CLOEXEC);
	if (ret_hits->fd < 0)
		return cli_fail("cannot create the file of hits: %s", strerror(errno));
	snprintf(ret_hits->path, sizeof(ret_hits->path), "/proc/%d/fd/%d", getpid(), ret_hits->fd);
	return 0;
}

static void print_counts(struct json_object *list)
{
	for (size_t i = 0; i < SIM_CHECK_NUM_RULES; i++) {
		const struct sim_check_rule_entry *rule = &sim_check_rules[i];
		struct sim_hit_count count = sim_hit_list_count(list, rule->id);

		if (count.num_sites)
			fprintf(stderr, "  %-12s %-18s %zu site%s, %llu hit%s: %s\n", rule->id,
				sim_check_severity_name(rule->severity), count.num_sites,
				count.num_sites > 1 ? "s" : "", (unsigned long long)count.num_hits,
				count.num_hits > 1 ? "s" : "", rule->name);
	}
}

static int fail_status(struct json_object *list, const struct cli_check_opt *check)
{
	for (size_t i = 0; check->fails && i < SIM_CHECK_NUM_RULES; i++)
		if (sim_check_rules[i].severity <= check->fail_severity &&
		    sim_hit_list_count(list, sim_check_rules[i].id).num_sites)
			return CLI_CHECK_FAILED;
	return CLI_OK;
}

static int write_report(struct json_object *list, const char *path)
{
	struct json_object *report = sim_hit_list_to_report(list);
	int rc = json_object_to_file_ext(path, report, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);

	json_object_put(report);
	return rc < 0 ? cli_fail("cannot write %s: %s", path, strerror(errno)) : CLI_OK;
}

int cli_check_results(struct cli_check_hits *hits, const struct cli_check_opt *check)
{
	struct json_object *list = sim_hit_list_read(hits->fd);
	size_t num_hits = json_object_array_length(list);
	int status = fail_status(list, check);

	close(hits->fd);
	if (num_hits == 0)
		fprintf(stderr, "bfsim check: no rule was broken (mode %s)\n", sim_check_mode_name(check->mode));
	else
		fprintf(stderr, "bfsim check: rules were broken (bfsim rules ID says more):\n");
	print_counts(list);
	if (check->report_path && write_report(list, check->report_path) != CLI_OK)
		status = CLI_FAILED;
	json_object_put(list);
	return status;
}
