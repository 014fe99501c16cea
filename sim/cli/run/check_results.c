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
#include "sim/check/mutes.h"
#include "sim/cli/base/cli.h"

int cli_check_hits_open(const struct cli_check_opt *check, struct cli_check_hits *ret_hits)
{
	if (cli_check_begin_reports(check) < 0)
		return -1;
	ret_hits->fd = memfd_create("bfsim-hits", MFD_CLOEXEC);
	if (ret_hits->fd < 0)
		return cli_error("cannot create the file of hits: %s", strerror(errno));
	snprintf(ret_hits->path, sizeof(ret_hits->path), "/proc/%d/fd/%d", getpid(), ret_hits->fd);
	return 0;
}

/* Returns how many sites were hit; muted hits are none. */
static size_t print_counts(struct json_object *list)
{
	size_t num_sites = 0;

	for (size_t i = 0; i < SIM_CHECK_NUM_RULES; i++) {
		const struct sim_check_rule_entry *rule = &sim_check_rules[i];
		struct sim_hit_count count = sim_hit_list_count(list, rule->id);

		if (count.num_sites && num_sites == 0)
			fprintf(stderr, "bfsim check: rules were broken (bfsim rules ID says more):\n");
		num_sites += count.num_sites;
		if (count.num_sites)
			fprintf(stderr, "  %-12s %-18s %zu site%s, %llu hit%s: %s\n", rule->id,
				sim_check_severity_name(rule->severity), count.num_sites,
				count.num_sites > 1 ? "s" : "", (unsigned long long)count.num_hits,
				count.num_hits > 1 ? "s" : "", rule->name);
	}
	return num_sites;
}

static uint64_t count_muted(struct json_object *list)
{
	uint64_t count = 0;

	for (size_t i = 0; i < SIM_CHECK_NUM_RULES; i++)
		count += sim_hit_list_count(list, sim_check_rules[i].id).num_muted;
	return count;
}

/* A run that checked nothing is not a good one. */
static void fail_if_unchecked(const struct sim_hit_programs *programs, const struct cli_check_opt *check,
			      struct cli_verdict *verdict)
{
	if (programs->num_checked)
		return;
	if (programs->num_unchecked)
		cli_verdict_fail(verdict, "nothing was checked: mode %s checks no program of the work-queue generation",
				 sim_check_mode_name(check->mode));
	else
		cli_verdict_fail(verdict,
				 "nothing was checked: no program of the run has loaded a DOCA library of bfsim");
}

/* What a program has left is checked at its end: a program that was killed was not checked as a whole. */
static void print_cut(const struct sim_hit_programs *programs)
{
	if (programs->num_cut == 1)
		fprintf(stderr,
			"bfsim check: not checked to its end: %s, process %d: it was killed, or ended by _exit() or exec()\n",
			programs->cut, programs->cut_pid);
	else if (programs->num_cut)
		fprintf(stderr,
			"bfsim check: not checked to their end: %zu programs, the first %s, process %d: they were killed, or ended by _exit() or exec()\n",
			programs->num_cut, programs->cut, programs->cut_pid);
}

static void print_summary(struct json_object *list, const struct sim_hit_programs *programs,
			  const struct cli_check_opt *check)
{
	uint64_t num_muted = count_muted(list);

	print_cut(programs);
	if (print_counts(list) == 0 && programs->num_checked)
		fprintf(stderr, "bfsim check: no rule was broken%s (mode %s)\n", programs->num_cut ? " until then" : "",
			sim_check_mode_name(check->mode));
	if (programs->num_unchecked)
		fprintf(stderr,
			"bfsim check: not checked: %s is a program of the work-queue generation, of which mode %s checks nothing; give --check=races\n",
			programs->unchecked, sim_check_mode_name(check->mode));
	if (num_muted)
		fprintf(stderr, "bfsim check: muted: %llu hit%s\n", (unsigned long long)num_muted,
			num_muted > 1 ? "s" : "");
	sim_check_mutes_print_useless(check->mutes, list, stderr);
}

static void add_broken(struct json_object *list, const struct cli_check_opt *check, struct cli_verdict *verdict)
{
	for (size_t i = 0; check->fails && i < SIM_CHECK_NUM_RULES; i++)
		if (sim_check_rules[i].severity <= check->fail_severity &&
		    sim_hit_list_count(list, sim_check_rules[i].id).num_sites)
			cli_verdict_add_broken(verdict, sim_check_rules[i].id);
}

void cli_check_results(struct cli_check_hits *hits, const struct cli_check_opt *check, struct cli_verdict *verdict)
{
	struct json_object *list = sim_hit_list_read(hits->fd);
	struct sim_hit_programs programs;

	sim_hit_list_read_programs(hits->fd, &programs);
	close(hits->fd);
	print_summary(list, &programs, check);
	fail_if_unchecked(&programs, check, verdict);
	add_broken(list, check, verdict);
	if (cli_check_write_reports(check, list, true) < 0)
		cli_verdict_keep_failure(verdict);
	hits->list = list;
}
