/* SPDX-License-Identifier: BSD-3-Clause */
/* The contents of a report: adding, finding and releasing them. */
#include "report_add.h"

#include <stdlib.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "sim/cli/base/cli.h"

#define MAX_OPS 65536

struct cli_report_text {
	SLIST_ENTRY(cli_report_text) entry;
	char text[];
};

void cli_report_init(struct cli_report *report)
{
	*report = (struct cli_report){ .first_ns = UINT64_MAX };
	SLIST_INIT(&report->texts);
}

int cli_report_finish(struct cli_report *report, const char *name)
{
	if (report->first_ns == UINT64_MAX)
		report->first_ns = 0;
	if (!report->has_failed)
		return 0;
	return cli_error("%s: out of memory: the trace has too many records", name);
}

const char *cli_report_copy_text(struct cli_report *report, const char *text)
{
	size_t size = strlen(text) + 1;
	struct cli_report_text *copy = size > 1 ? malloc(sizeof(*copy) + size) : NULL;

	report->has_failed |= !copy && size > 1;
	if (!copy)
		return "";
	memcpy(copy->text, text, size);
	SLIST_INSERT_HEAD(&report->texts, copy, entry);
	return copy->text;
}

/* Make room for one more entry in a list of @count entries. The list has room for the next power of two.
 * Returns the list, which may have moved, or NULL without memory. */
static void *grow_list(struct cli_report *report, void *list, size_t count, size_t size)
{
	void *grown = list;

	if ((count & (count - 1)) == 0)
		grown = reallocarray(list, count ? count * 2 : 1, size);
	report->has_failed |= !grown;
	return grown;
}

void cli_report_add_time(struct cli_report *report, uint64_t time_ns)
{
	report->first_ns = min_u64(report->first_ns, time_ns);
	report->last_ns = max_u64(report->last_ns, time_ns);
}

static bool is_op(const struct cli_report_op *op, int64_t pid, const char *context, const char *name)
{
	return op->pid == pid && strcmp(op->context, context) == 0 && strcmp(op->name, name) == 0;
}

/* Index, or the number of operations. Most tasks are of the same operation as the task before. */
static size_t find_op(struct cli_report *report, int64_t pid, const char *context, const char *name)
{
	size_t i = report->last_op;

	if (i < report->num_ops && is_op(&report->ops[i], pid, context, name))
		return i;
	for (i = 0; i < report->num_ops; i++)
		if (is_op(&report->ops[i], pid, context, name))
			return report->last_op = i;
	return i;
}

size_t cli_report_add_op(struct cli_report *report, int64_t pid, const char *context, const char *device,
			 const char *name)
{
	size_t number = find_op(report, pid, context, name);
	struct cli_report_op *ops;

	if (number < report->num_ops)
		return number;
	if (report->num_ops == MAX_OPS)
		return MAX_OPS - 1;
	ops = grow_list(report, report->ops, report->num_ops, sizeof(*ops));
	if (!ops)
		return SIZE_MAX;
	report->ops = ops;
	ops[number] = (struct cli_report_op){ .pid = pid,
					      .context = cli_report_copy_text(report, context),
					      .device = cli_report_copy_text(report, device),
					      .name = cli_report_copy_text(report, name) };
	report->num_ops++;
	return report->last_op = number;
}

void cli_report_add_counts(struct cli_report *report, int64_t pid, const char *context, const char *device,
			   const char *name, const struct cli_report_counts *counts)
{
	size_t number = counts->submitted + counts->failed > 0 ? cli_report_add_op(report, pid, context, device, name) :
								 find_op(report, pid, context, name);

	if (number >= report->num_ops)
		return;
	report->ops[number].counts = *counts;
	report->ops[number].has_counts = true;
}

void cli_report_add_task(struct cli_report *report, const struct cli_report_task *task)
{
	struct cli_report_task *list = grow_list(report, report->tasks, report->num_tasks, sizeof(*list));

	if (!list)
		return;
	report->tasks = list;
	list[report->num_tasks++] = *task;
}

void cli_report_add_incident(struct cli_report *report, struct cli_report_incidents *incidents,
			     const struct cli_report_incident *incident)
{
	struct cli_report_incident *list = grow_list(report, incidents->list, incidents->count, sizeof(*list));

	if (!list)
		return;
	incidents->list = list;
	list += incidents->count++;
	*list = *incident;
	list->text = cli_report_copy_text(report, incident->text);
	list->operation = cli_report_copy_text(report, incident->operation);
	list->context = cli_report_copy_text(report, incident->context);
	list->place = cli_report_copy_text(report, incident->place ? incident->place : "");
	list->remedy = cli_report_copy_text(report, incident->remedy ? incident->remedy : "");
}

void cli_report_add_process(struct cli_report *report, const struct cli_report_process *process)
{
	struct cli_report_process *list = grow_list(report, report->processes, report->num_processes, sizeof(*list));

	if (!list)
		return;
	report->processes = list;
	list += report->num_processes++;
	*list = *process;
	list->side = cli_report_copy_text(report, process->side);
	list->program = cli_report_copy_text(report, process->program);
	list->level = cli_report_copy_text(report, process->level);
	list->paths = cli_report_copy_text(report, process->paths);
}

void cli_report_add_rule(struct cli_report *report, const struct cli_report_rule *rule)
{
	struct cli_report_rule *list = grow_list(report, report->rules, report->num_rules, sizeof(*list));

	if (!list)
		return;
	report->rules = list;
	list += report->num_rules++;
	*list = *rule;
	list->text = cli_report_copy_text(report, rule->text);
}

void cli_report_add_machine(struct cli_report *report, const struct cli_report_machine *machine)
{
	struct cli_report_machine *list = grow_list(report, report->machines, report->num_machines, sizeof(*list));

	if (!list)
		return;
	report->machines = list;
	list += report->num_machines++;
	*list = *machine;
	list->name = cli_report_copy_text(report, machine->name);
}

void cli_report_add_card(struct cli_report *report, const struct cli_report_card *card)
{
	struct cli_report_card *list = grow_list(report, report->cards, report->num_cards, sizeof(*list));

	if (!list)
		return;
	report->cards = list;
	list[report->num_cards++] = (struct cli_report_card){ .name = cli_report_copy_text(report, card->name),
							      .model = cli_report_copy_text(report, card->model),
							      .link = cli_report_copy_text(report, card->link),
							      .mode = cli_report_copy_text(report, card->mode) };
}

void cli_report_add_link(struct cli_report *report, const char *side, const char *device, uint64_t to_card_bps,
			 uint64_t to_host_bps)
{
	struct cli_report_link *list = grow_list(report, report->links, report->num_links, sizeof(*list));

	if (!list)
		return;
	report->links = list;
	list += report->num_links++;
	*list = (struct cli_report_link){ .side = cli_report_copy_text(report, side),
					  .device = cli_report_copy_text(report, device) };
	list->traffic[CLI_REPORT_TO_CARD].payload_bps = to_card_bps;
	list->traffic[CLI_REPORT_TO_HOST].payload_bps = to_host_bps;
}

const struct cli_report_process *cli_report_find_process(const struct cli_report *report, int64_t pid)
{
	for (size_t i = 0; i < report->num_processes; i++)
		if (report->processes[i].pid == pid)
			return &report->processes[i];
	return NULL;
}

uint32_t cli_report_slice_index(const struct cli_report *report, uint64_t time_ns)
{
	uint64_t slice = time_ns > report->first_ns ? (time_ns - report->first_ns) / report->slice_ns : 0;

	return slice < CLI_REPORT_SLICES ? (uint32_t)slice : CLI_REPORT_SLICES - 1;
}

void cli_report_fini(struct cli_report *report)
{
	struct cli_report_text *text;

	while ((text = SLIST_FIRST(&report->texts))) {
		SLIST_REMOVE_HEAD(&report->texts, entry);
		free(text);
	}
	free(report->processes);
	free(report->rules);
	free(report->ops);
	free(report->tasks);
	free(report->links);
	free(report->machines);
	free(report->cards);
	free(report->faults.list);
	free(report->warnings.list);
	free(report->findings.list);
	*report = (struct cli_report){ 0 };
}
