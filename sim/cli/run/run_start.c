/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting the programs of a run: at once, after a service, or after a time. */
#include <json-c/json.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "run_priv.h"
#include "sim/base/monotonic.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_client.h"

size_t cli_run_count_running(const struct run *run)
{
	size_t count = 0;

	for (size_t i = 0; i < run->num_programs; i++)
		count += run->programs[i].pid > 0;
	return count;
}

size_t cli_run_count_pending(const struct run *run)
{
	size_t count = 0;

	for (size_t i = 0; i < run->num_programs && !cli_run_is_ending(run); i++)
		count += !run->programs[i].was_started;
	return count;
}

/* Whether the command waits for a service or a time. */
static bool is_delayed(const struct run *run, size_t i)
{
	const char *label = run->cfg->commands[i].label;

	return cli_start_service(run->cfg->order, label) || cli_start_delay_ms(run->cfg->order, label) > 0;
}

/* Virtual time stands still until all have begun, except for those that wait. */
static void begin_launches(struct run *run)
{
	if (run->cfg->clock != SIM_CLOCK_VIRTUAL)
		return;
	for (size_t i = 0; i < run->cfg->num_commands; i++)
		if (!is_delayed(run, i))
			sim_clock_launch_begin(cli_run_clock_page(run), (uint32_t)i + 1, &run->launches[i]);
}

static int start_program(struct run *run, size_t i)
{
	const struct cli_run_cfg *cfg = run->cfg;
	char launch[SIM_CLOCK_LAUNCH_TEXT_SIZE];
	struct cli_program_cfg program = { .side = cfg->commands[i].side,
					   .label = cfg->commands[i].label,
					   .text = cfg->commands[i].text,
					   .generation = cfg->commands[i].generation,
					   .dir = cli_run_nodes_dir(&cfg->nodes, cfg->commands[i].side,
								    cfg->session_dir->dir),
					   .check = cfg->check,
					   .hits_path = run->hits.fd >= 0 ? run->hits.path : NULL,
					   .launch = launch,
					   .mask = run->original,
					   .epoll_fd = run->epoll_fd };

	for (size_t other = 0; other < cfg->num_commands; other++)
		program.name_width = (int)max_u64((uint64_t)program.name_width, strlen(cfg->commands[other].label));
	run->launches[i].number = (uint32_t)i + 1;
	sim_clock_launch_write(&run->launches[i], launch);
	run->programs[i].was_started = true;
	return cli_program_start(&program, &run->programs[i]);
}

int cli_run_start_programs(struct run *run)
{
	const struct cli_run_cfg *cfg = run->cfg;

	run->began_ms = sim_monotonic_ms();
	begin_launches(run);
	for (size_t i = 0; i < cfg->num_commands; i++)
		run->programs[i] = (struct cli_program)CLI_PROGRAM_NONE(cfg->commands[i].label);
	run->num_programs = cfg->num_commands;
	for (size_t i = 0; i < cfg->num_commands; i++)
		if (!is_delayed(run, i) && start_program(run, i) < 0)
			return -1;
	return 0;
}

/* Whether what the command waits for is there. Asks the daemon. */
static bool is_due(const struct run *run, const char *label, const char *side)
{
	const char *service = cli_start_service(run->cfg->order, label);
	json_object *status;
	bool found;

	if (sim_monotonic_ms() < run->began_ms + cli_start_delay_ms(run->cfg->order, label))
		return false;
	if (!service)
		return true;
	status = cli_session_status(cli_run_nodes_dir(&run->cfg->nodes, side, run->cfg->session_dir->dir));
	found = status && cli_status_has_service(status, service);
	json_object_put(status);
	return found;
}

/* Nothing runs that could offer what the rest waits for. */
static void report_missing_services(const struct run *run)
{
	for (size_t i = 0; i < run->num_programs; i++) {
		const char *service = cli_start_service(run->cfg->order, run->programs[i].label);

		if (run->programs[i].was_started || !service)
			continue;
		cli_fail("%s was not started: no program has offered the service \"%s\", and all others have ended",
			 run->programs[i].label, service);
	}
}

int cli_run_start_due(struct run *run)
{
	bool waits_for_time = false;

	if (cli_run_count_pending(run) == 0)
		return 0;
	for (size_t i = 0; i < run->num_programs && !cli_run_is_ending(run); i++) {
		const char *label = run->programs[i].label;

		if (run->programs[i].was_started)
			continue;
		if (!is_due(run, label, run->cfg->commands[i].side))
			waits_for_time |= !cli_start_service(run->cfg->order, label);
		else if (start_program(run, i) < 0)
			return -1;
	}
	if (cli_run_count_running(run) > 0 || cli_run_count_pending(run) == 0 || waits_for_time)
		return 0;
	report_missing_services(run);
	return -1;
}
