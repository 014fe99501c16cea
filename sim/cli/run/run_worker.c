/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker of bfsim run: a daemon and programs, from start to end. */
#include "run_worker.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pcie_model/arith.h"
#include "sim/base/monotonic.h"
#include "sim/base/watch.h"
#include "sim/cli/base/cli.h"
#include "check_results.h"
#include "subreaper.h"
#include "program.h"
#include "fault_results.h"
#include "fault_watch.h"
#include "run_leaks.h"
#include "run_outputs.h"
#include "run_priv.h"
#include "sim/cli/base/session_client.h"
#include "sim/clock/launch.h"
#include "sim/state/shared_state.h"
#include "sim/control/control.h"

/* Send SIGTERM to the process groups of the programs that run. */
static void begin_shutdown(struct run *run)
{
	if (!cli_run_phase_set(&run->phase, CLI_RUN_ENDING))
		return;
	run->ended_ns = sim_clock_page_now_ns(cli_run_clock_page(run));
	run->kill_at_ms = sim_monotonic_ms() + CLI_RUN_GRACE_MS;
	for (size_t i = 0; i < run->num_programs; i++) {
		if (run->programs[i].pid <= 0)
			continue;
		kill(-run->programs[i].pid, SIGTERM);
		run->programs[i].group = run->programs[i].pid;
	}
}

static void fail_run(struct run *run, int status)
{
	if (run->status == 0 && !cli_run_is_ending(run))
		run->status = status;
	begin_shutdown(run);
}

/* bfsim itself has failed, with a message. */
static void fail_bfsim(struct run *run)
{
	cli_verdict_keep_failure(&run->verdict);
	begin_shutdown(run);
}

static bool is_of_dpu(const struct run *run, const struct cli_program *program)
{
	return pcie_side_is_dpu(run->cfg->commands[program - run->programs].side);
}

static bool is_opposite_kind_running(const struct run *run, const struct cli_program *program)
{
	for (size_t i = 0; i < run->num_programs; i++) {
		const struct cli_program *other = &run->programs[i];
		bool is_pending = !other->was_started && !cli_run_is_ending(run);

		if ((other->pid > 0 || is_pending) && is_of_dpu(run, other) != is_of_dpu(run, program))
			return true;
	}
	return false;
}

static void end_unneeded_inputs(struct run *run)
{
	for (size_t i = 0; i < run->num_programs; i++) {
		if (!cli_run_is_ending(run) && !is_opposite_kind_running(run, &run->programs[i]))
			cli_program_end_input(&run->programs[i]);
	}
}

/* With --until: its commands have all ended with 0. */
static void end_if_wanted(struct run *run)
{
	const char *until = run->cfg->order->until;

	if (!until || cli_run_is_ending(run))
		return;
	for (size_t i = 0; i < run->num_programs; i++) {
		const struct cli_program *program = &run->programs[i];

		if (cli_label_matches(until, program->label) && (program->pid > 0 || !program->was_started))
			return;
	}
	begin_shutdown(run);
}

/* A rule may kill a program: then the run goes on for the others, as it tests how they react. Not where the end of that program
 * would have ended them. */
static bool goes_on_without(struct run *run, struct cli_program *program)
{
	const char *until = run->cfg->order->until;

	if (cli_run_is_ending(run) || cli_run_count_running(run) + cli_run_count_pending(run) == 0 ||
	    (until && cli_label_matches(until, program->label)) || !cli_run_was_struck(run, program))
		return false;
	program->was_struck = true;
	if (!run->cfg->verdict.is_quiet)
		cli_fail("the command on %s was killed by a fault; the others go on%s", program->label,
			 run->cfg->timeout_s == 0 ? " (for as long as they like: --timeout limits it)" : "");
	return true;
}

static void handle_program_exit(struct run *run, struct cli_program *program, int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : CLI_SIGNAL + WTERMSIG(status);
	char death[64];
	bool was_killed;

	program->pid = 0;
	program->status = code;
	sim_clock_launch_end(cli_run_clock_page(run), &run->launches[program - run->programs]);
	if (code == 0) {
		end_if_wanted(run);
		return;
	}
	if (goes_on_without(run, program))
		return;
	if (!cli_run_is_ending(run)) {
		was_killed = cli_run_describe_death(code, death, sizeof(death));
		cli_fail("the command on %s ended with status %d%s%s", program->label, code, death,
			 cli_run_count_running(run) > 0 ? "; ending the others" : "");
		cli_run_explain(run, program, was_killed);
	}
	fail_run(run, code);
}

/* A machine dies with all of its programs. Returns whether a rule has killed it; the run goes on, as it tests how the others
 * react. */
static bool end_struck_machine(const struct run *run, const struct cli_run_node *node, const char *name)
{
	if (!cli_run_machine_was_struck(run, node))
		return false;
	if (!run->cfg->verdict.is_quiet)
		cli_fail("the machine %s was killed by a fault; the others go on", name);
	for (size_t i = 0; i < run->num_programs; i++)
		if (run->programs[i].pid > 0 && cli_run_node_of(run, &run->programs[i]) == node)
			kill(-run->programs[i].pid, SIGKILL);
	return true;
}

/* A rule may kill the daemon: then the run goes on, as it tests how programs react. */
static void handle_daemon_exit(struct run *run, int status)
{
	bool was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;

	run->daemon = 0;
	if (was_killed && (cli_faults_num_kills(cli_run_plan(run, NULL), SIM_OP_DAEMON) > 0 ||
			   end_struck_machine(run, NULL, run->cfg->nodes.home)))
		return;
	cli_fail("the session's daemon ended before the commands did; ending them");
	fail_bfsim(run);
}

/* Other machines take that as the loss of one. */
static void handle_node_exit(struct run *run, struct cli_run_node *node)
{
	node->daemon = 0;
	if (cli_run_is_ending(run) || end_struck_machine(run, node, node->name))
		return;
	cli_fail("the daemon of %s ended before the commands did; ending them", node->name);
	fail_bfsim(run);
}

static void handle_child_exit(struct run *run, pid_t pid, int status)
{
	if (pid == run->daemon) {
		handle_daemon_exit(run, status);
		return;
	}
	for (size_t i = 0; i < run->cfg->nodes.count; i++)
		if (run->cfg->nodes.list[i].daemon == pid)
			handle_node_exit(run, &run->cfg->nodes.list[i]);
	for (size_t i = 0; i < run->num_programs; i++) {
		if (run->programs[i].pid == pid)
			handle_program_exit(run, &run->programs[i], status);
	}
}

/* Print how many background processes the commands left. A run that is being ended does not print them. */
static void report_orphans(const struct run *run, unsigned int count)
{
	if (count > 0 && !cli_run_is_ending(run))
		cli_fail("the commands have ended; ending %u process%s that they left in the background", count,
			 count > 1 ? "es" : "");
}

/* Send SIGTERM, once, to the processes that programs left behind, unless they got it with their group. Returns their number. */
static unsigned int signal_orphans(const struct run *run)
{
	pid_t *groups = calloc(run->num_programs + 1, sizeof(*groups));
	unsigned int count;
	size_t num_groups = 0;

	for (size_t i = 0; groups && i < run->num_programs; i++)
		if (run->programs[i].group)
			groups[num_groups++] = run->programs[i].group;
	cli_run_nodes_daemons(&run->cfg->nodes, run->daemon, run->daemons);
	count = cli_signal_children(run->phase == CLI_RUN_ORPHANED ? 0 : SIGTERM, run->daemons, groups);
	free(groups);
	return count;
}

/* Reap all children that ended. When no program runs any more, end the processes that they left behind. */
static void reap_children(struct run *run)
{
	unsigned int num_orphans;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		handle_child_exit(run, pid, status);
	end_unneeded_inputs(run);
	if (cli_run_count_running(run) + cli_run_count_pending(run) > 0)
		return;
	num_orphans = signal_orphans(run);
	report_orphans(run, num_orphans);
	begin_shutdown(run);
	cli_run_phase_set(&run->phase, num_orphans == 0 ? CLI_RUN_DONE : CLI_RUN_ORPHANED);
}

static void handle_signals(struct run *run)
{
	struct signalfd_siginfo info;

	while (read(run->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGTERM) {
			if (!cli_run_is_ending(run))
				cli_run_explain(run, NULL, false);
			run->end_requested = run->end_requested || !cli_run_is_ending(run);
			begin_shutdown(run);
		} else {
			reap_children(run);
		}
	}
}

static void forward_output(struct run *run, struct cli_output_relay *relay)
{
	if (cli_output_relay_forward(relay) || cli_run_is_ending(run))
		return;
	if (errno == EPIPE) {
		fail_run(run, CLI_SIGNAL + SIGPIPE);
		return;
	}
	cli_fail("cannot pass the output on: %s; ending the commands", strerror(errno));
	fail_bfsim(run);
}

/* Nobody reads what the programs write: a terminal that was hung up, or a pipe without a reader. */
static void handle_output_gone(struct run *run)
{
	sim_watch_remove(run->epoll_fd, STDOUT_FILENO);
	fail_run(run, CLI_SIGNAL + SIGPIPE);
}

/* The longest wait for an event, in milliseconds; -1 = any. */
static int longest_wait_ms(const struct run *run)
{
	int64_t left_ms = run->kill_at_ms - sim_monotonic_ms();

	if (cli_run_is_ending(run))
		return left_ms < 0 ? 0 : (int)left_ms;
	if (cli_run_count_pending(run) > 0)
		return CLI_RUN_START_POLL_MS;
	return run->cfg->faults->count > 0 && !run->cfg->verdict.is_quiet ? CLI_FAULT_WATCH_MS : -1;
}

/* Wait for output and signals, and handle them. Output comes first, so that the output of a program precedes
 * the message about its end. */
static void wait_and_handle(struct run *run, struct epoll_event *events, int max_events)
{
	int count = epoll_wait(run->epoll_fd, events, max_events, longest_wait_ms(run));
	bool has_signal = false;

	for (int i = 0; i < count; i++) {
		if (events[i].data.ptr == run)
			handle_output_gone(run);
		else if (events[i].data.ptr)
			forward_output(run, events[i].data.ptr);
		else
			has_signal = true;
	}
	if (has_signal)
		handle_signals(run);
}

static void run_event_loop(struct run *run)
{
	size_t max_events = 2 * run->num_programs + 2; /* standard output and error; signals; nobody reads any more */
	struct epoll_event *events = calloc(max_events, sizeof(*events));

	if (!events) {
		cli_verdict_fail(&run->verdict, "out of memory");
		return;
	}
	end_unneeded_inputs(run);
	while (run->phase != CLI_RUN_DONE && !(cli_run_is_ending(run) && sim_monotonic_ms() >= run->kill_at_ms)) {
		if (cli_run_start_due(run) < 0) {
			fail_bfsim(run);
			reap_children(run);
		}
		wait_and_handle(run, events, (int)max_events);
		if (!run->cfg->verdict.is_quiet)
			cli_fault_watch_update(&run->watch, cli_run_plan(run, NULL));
	}
	free(events);
}

/* Signals become events without a relay; the end of the reader of this output an event of the run. */
static int open_events(struct run *run)
{
	sigset_t watched;

	sigemptyset(&watched);
	sigaddset(&watched, SIGCHLD);
	sigaddset(&watched, SIGTERM);
	run->signal_fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	run->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (run->signal_fd < 0 || run->epoll_fd < 0 ||
	    sim_watch_add(run->epoll_fd, run->signal_fd, EPOLLIN, (epoll_data_t){ .ptr = NULL }) < 0)
		return cli_fail("cannot watch for the commands' ends: %s", strerror(errno));
	sim_watch_add(run->epoll_fd, STDOUT_FILENO, 0,
		      (epoll_data_t){ .ptr = run }); /* fails for a file, which always has a reader */
	return 0;
}

static int prepare_run(struct run *run)
{
	if (open_events(run) != 0)
		return -1;
	run->programs = calloc(run->cfg->num_commands, sizeof(*run->programs));
	run->launches = calloc(run->cfg->num_commands, sizeof(*run->launches));
	if (!run->programs || !run->launches)
		return cli_fail("out of memory");
	if (cli_run_nodes_start(&run->cfg->nodes, run->cfg->session_dir->dir, run->cfg->trace_level) < 0)
		return -1;
	if (run->cfg->check->mode != SIM_CHECK_OFF && cli_check_hits_open(run->cfg->check, &run->hits) < 0)
		return -1;
	return 0;
}

static int inject_faults(struct run *run)
{
	const char *dir = run->cfg->session_dir->dir;
	int dir_fd = cli_session_open(dir);
	int rc = dir_fd < 0 ? -1 : cli_session_map_state(dir_fd, dir, &run->shared_state);

	if (rc == 0)
		rc = cli_faults_send(run->cfg->faults, dir_fd, dir, false);
	if (dir_fd >= 0)
		close(dir_fd);
	return rc;
}

static bool has_failed(const struct run *run)
{
	return run->status != 0 || cli_verdict_has_failures(&run->verdict);
}

/* A program that crashed, or was ended, could not clean up. */
static void report_leaks(const struct run *run)
{
	if (!has_failed(run) && !run->end_requested && !run->cfg->verdict.is_quiet && run->daemon > 0)
		cli_run_leaks_print(run->cfg->session_dir->dir, run->programs, run->num_programs);
}

static void report_faults_of_machines(struct run *run, bool with_hits)
{
	const struct cli_run_nodes *nodes = &run->cfg->nodes;
	const struct sim_plan **plans = calloc(nodes->count + 1, sizeof(*plans));

	if (!plans) {
		cli_verdict_fail(&run->verdict, "out of memory");
		return;
	}
	plans[0] = cli_run_plan(run, NULL);
	for (size_t i = 0; i < nodes->count; i++)
		plans[i + 1] = cli_run_plan(run, &nodes->list[i]);
	cli_fault_results_of_machines(run->cfg->faults, plans, nodes->count + 1, with_hits, &run->verdict);
	free(plans);
}

/* Name the rules that never hit: a test that did not inject its fault would pass for the wrong reason. After a failed
 * run, name the rules that hit, too. */
static void report_faults(struct run *run)
{
	const struct sim_plan *plan = cli_run_plan(run, NULL);
	bool with_hits = has_failed(run) || run->end_requested;

	if (run->cfg->nodes.count > 0)
		report_faults_of_machines(run, with_hits);
	else
		cli_fault_results(plan, run->daemon > 0 ? run->cfg->session_dir->dir : NULL, with_hits, &run->verdict);
	if (run->cfg->require_faults && run->cfg->faults->count == 0 && atomic_load(&plan->last_id) == 0)
		cli_verdict_fail(&run->verdict, "--require-faults: the run had no fault; give --fault or --fault-plan");
}

/* End the daemon, which removes its directory. Remove the directory here as well, for a daemon that was killed. */
static void end_daemon(struct run *run)
{
	struct timespec grace = { .tv_sec = CLI_RUN_GRACE_MS / 1000 };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	cli_run_nodes_daemons(&run->cfg->nodes, run->daemon, run->daemons);
	for (const pid_t *daemon = run->daemons; *daemon; daemon++) {
		kill(*daemon, SIGTERM);
		while (waitpid(*daemon, NULL, WNOHANG) == 0)
			if (sigtimedwait(&child, NULL, &grace) < 0)
				break;
	}
	cli_kill_descendants(NULL);
	sim_session_dir_remove(run->cfg->session_dir);
}

/* The programs' status and the faults come before what the checker found. */
static void report_hits(struct run *run)
{
	if (run->hits.fd >= 0)
		cli_check_results(&run->hits, run->cfg->check, &run->verdict);
}

/* Begin, run the programs, and say what came of it. */
static void run_programs(struct run *run)
{
	if (prepare_run(run) == 0 && inject_faults(run) == 0 && cli_run_start_programs(run) == 0)
		run_event_loop(run);
	else
		cli_verdict_keep_failure(&run->verdict);
	cli_run_nodes_daemons(&run->cfg->nodes, run->daemon, run->daemons);
	cli_kill_descendants(run->daemons);
	if (run->num_programs > 0)
		report_faults(run);
	report_leaks(run);
	for (size_t i = 0; i < run->num_programs; i++)
		cli_program_fini(&run->programs[i]);
	report_hits(run);
	cli_run_write_outputs(run);
}

static void run_fini(struct run *run)
{
	cli_verdict_fini(&run->verdict);
	cli_fault_watch_fini(&run->watch);
	sim_segment_unmap(&run->shared_state);
	for (size_t i = 0; i < run->cfg->nodes.count; i++)
		sim_segment_unmap(&run->cfg->nodes.list[i].shared_state);
	json_object_put(run->hits.list);
	free(run->programs);
	free(run->launches);
	free(run->daemons);
	if (run->signal_fd >= 0)
		close(run->signal_fd);
	if (run->epoll_fd >= 0)
		close(run->epoll_fd);
}

int cli_run_worker(void *cfg, const sigset_t *original)
{
	struct run run = { .cfg = cfg, .original = original, .signal_fd = -1, .epoll_fd = -1, .hits = { .fd = -1 } };
	struct sim_launch_cfg daemon = { .session_dir = run.cfg->session_dir,
					 .topology = run.cfg->topology,
					 .clock = run.cfg->clock,
					 .trace_level = run.cfg->trace_level,
					 .passes_memory = run.cfg->passes_memory,
					 .temporary = true };
	int status;

	cli_keep_messages();
	run.verdict = run.cfg->verdict;
	if (cli_verdict_init(&run.verdict) < 0)
		return CLI_OWN_FAILURE;
	run.daemons = calloc(run.cfg->nodes.count + 2, sizeof(*run.daemons));
	cli_run_nodes_set_home(&run.cfg->nodes, &daemon);
	run.daemon = run.daemons ? cli_daemon_start(&daemon) : cli_error("out of memory");
	if (run.daemon < 0) {
		run.daemon = 0;
		cli_verdict_keep_failure(&run.verdict);
	} else {
		run_programs(&run);
		end_daemon(&run);
	}
	status = cli_verdict_status(&run.verdict, run.status);
	if (run.cfg->verdict_path && cli_verdict_write(&run.verdict, run.status, run.cfg->verdict_path) < 0)
		status = CLI_OWN_FAILURE;
	run_fini(&run);
	return status;
}
