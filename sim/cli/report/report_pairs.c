/* SPDX-License-Identifier: BSD-3-Clause */
/* Counterparts in two reports: processes, operations, and the hits of rules. */
#include <stdlib.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "report_compare.h"

/* ---- processes ---- */

static bool is_same_program(const struct cli_report_process *a, const struct cli_report_process *b)
{
	return strcmp(a->side, b->side) == 0 && strcmp(a->program, b->program) == 0;
}

static bool is_same_side(const struct cli_report_process *a, const struct cli_report_process *b)
{
	return strcmp(a->side, b->side) == 0;
}

/* Pair the first entries of @comparison->processes, which are those before, with processes that are not taken. */
static void pair_processes_if(struct cli_report_comparison *comparison, bool *taken,
			      bool is_pair(const struct cli_report_process *a, const struct cli_report_process *b))
{
	for (size_t i = 0; i < comparison->before->num_processes; i++) {
		struct cli_report_process_pair *pair = &comparison->processes[i];

		for (size_t j = 0; j < comparison->now->num_processes && !pair->now; j++) {
			if (taken[j] || !is_pair(pair->before, &comparison->now->processes[j]))
				continue;
			pair->now = &comparison->now->processes[j];
			taken[j] = true;
		}
	}
}

static int pair_processes(struct cli_report_comparison *comparison)
{
	const struct cli_report *before = comparison->before, *now = comparison->now;
	bool *taken = calloc(now->num_processes + 1, sizeof(*taken));

	comparison->processes = calloc(before->num_processes + now->num_processes + 1, sizeof(*comparison->processes));
	if (!taken || !comparison->processes) {
		free(taken);
		return -1;
	}
	for (size_t i = 0; i < before->num_processes; i++)
		comparison->processes[comparison->num_processes++].before = &before->processes[i];
	pair_processes_if(comparison, taken, is_same_program);
	pair_processes_if(comparison, taken, is_same_side);
	for (size_t j = 0; j < now->num_processes; j++)
		if (!taken[j])
			comparison->processes[comparison->num_processes++].now = &now->processes[j];
	free(taken);
	return 0;
}

/* The counterpart of a process of the run before; NULL = none. */
static const struct cli_report_process *process_now(const struct cli_report_comparison *comparison, int64_t pid)
{
	for (size_t i = 0; i < comparison->num_processes; i++)
		if (comparison->processes[i].before && comparison->processes[i].before->pid == pid)
			return comparison->processes[i].now;
	return NULL;
}

/* ---- operations ---- */

/* Length of "dma" in "dma #2". */
static size_t kind_length(const char *context)
{
	const char *number = strrchr(context, '#');

	return number ? (size_t)(number - context) : strlen(context);
}

static bool is_same_context(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static bool is_same_kind(const char *a, const char *b)
{
	return kind_length(a) == kind_length(b) && strncmp(a, b, kind_length(a)) == 0;
}

static void pair_ops_if(struct cli_report_comparison *comparison, bool *taken,
			bool is_pair(const char *a, const char *b))
{
	const struct cli_report *now = comparison->now;

	for (size_t i = 0; i < comparison->before->num_ops; i++) {
		struct cli_report_op_pair *pair = &comparison->ops[i];
		const struct cli_report_process *process =
			pair->now ? NULL : process_now(comparison, pair->before->pid);

		for (size_t j = 0; process && j < now->num_ops && !pair->now; j++) {
			const struct cli_report_op *op = &now->ops[j];

			if (op->pid != process->pid || taken[j] || strcmp(op->name, pair->before->name) != 0 ||
			    !is_pair(op->context, pair->before->context))
				continue;
			pair->now = op;
			taken[j] = true;
			comparison->num_common++;
		}
	}
}

static int pair_ops(struct cli_report_comparison *comparison)
{
	const struct cli_report *before = comparison->before, *now = comparison->now;
	bool *taken = calloc(now->num_ops + 1, sizeof(*taken));

	comparison->ops = calloc(before->num_ops + now->num_ops + 1, sizeof(*comparison->ops));
	if (!taken || !comparison->ops) {
		free(taken);
		return -1;
	}
	for (size_t i = 0; i < before->num_ops; i++)
		comparison->ops[comparison->num_ops++].before = &before->ops[i];
	pair_ops_if(comparison, taken, is_same_context);
	pair_ops_if(comparison, taken, is_same_kind);
	for (size_t j = 0; j < now->num_ops; j++)
		if (!taken[j])
			comparison->ops[comparison->num_ops++].now = &now->ops[j];
	free(taken);
	return 0;
}

/* ---- hits of rules ---- */

/* The entry of @rule in @list, which has room for a new one. */
static struct cli_report_rule_pair *add_rule(struct cli_report_rule_pair *list, size_t *count, const char *rule)
{
	for (size_t i = 0; i < *count; i++)
		if (strcmp(list[i].rule, rule) == 0)
			return &list[i];
	list[*count] = (struct cli_report_rule_pair){ .rule = rule };
	return &list[(*count)++];
}

static void add_hits(struct cli_report_rule_pair *pair, bool is_now, uint64_t hits)
{
	if (is_now) {
		pair->has_now = true;
		pair->now += hits;
	} else {
		pair->has_before = true;
		pair->before += hits;
	}
}

static void add_faults(struct cli_report_comparison *comparison, bool is_now)
{
	const struct cli_report *report = is_now ? comparison->now : comparison->before;

	for (size_t i = 0; i < report->num_rules; i++)
		add_hits(add_rule(comparison->faults, &comparison->num_faults, report->rules[i].text), is_now, 0);
	for (size_t i = 0; i < report->faults.count; i++)
		add_hits(add_rule(comparison->faults, &comparison->num_faults, report->faults.list[i].text), is_now, 1);
}

/* A trace does not tell whether the checker was on: a rule without findings has 0 of them. */
static void add_findings(struct cli_report_comparison *comparison, bool is_now)
{
	const struct cli_report *report = is_now ? comparison->now : comparison->before;

	for (size_t i = 0; i < report->findings.count; i++) {
		const struct cli_report_incident *finding = &report->findings.list[i];
		struct cli_report_rule_pair *pair =
			add_rule(comparison->findings, &comparison->num_findings, finding->operation);

		add_hits(pair, is_now, max_u64(finding->count, 1));
		add_hits(pair, !is_now, 0);
	}
}

static int pair_hits(struct cli_report_comparison *comparison)
{
	const struct cli_report *before = comparison->before, *now = comparison->now;

	comparison->faults = calloc(before->num_rules + before->faults.count + now->num_rules + now->faults.count + 1,
				    sizeof(*comparison->faults));
	comparison->findings = calloc(before->findings.count + now->findings.count + 1, sizeof(*comparison->findings));
	if (!comparison->faults || !comparison->findings)
		return -1;
	for (int is_now = 0; is_now < 2; is_now++) {
		add_faults(comparison, is_now);
		add_findings(comparison, is_now);
	}
	return 0;
}

int cli_report_pair(struct cli_report_comparison *comparison)
{
	return pair_processes(comparison) < 0 || pair_ops(comparison) < 0 || pair_hits(comparison) < 0 ? -1 : 0;
}
