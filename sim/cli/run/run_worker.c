/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker of bfsim run: a daemon and programs, from start to end. */
#include "run_worker.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pcie_model/arith.h"
#include "sim/base/monotonic.h"
#include "sim/cli/base/cli.h"
#include "check_results.h"
#include "subreaper.h"
#include "program.h"
#include "sim/cli/base/session_client.h"
#include "sim/cli/report/report_write.h"
#include "sim/cli/trace/trace_write.h"
#include "sim/clock/launch.h"
#include "sim/state/shared_state.h"
#include "sim/control/control.h"

struct run {
	const struct cli_run_cfg *cfg;
	const sigset_t *original;
	pid_t daemon;                      /* 0 = it ended */
	struct sim_segment shared_state;   /* stays when the daemon does not */
	struct cli_check_hits hits;        /* if programs are checked */
	int signal_fd;                     /* SIGCHLD and SIGTERM */
	struct cli_program *programs;      /* the first num_programs of them were started */
	struct sim_clock_launch *launches; /* of the commands; in virtual time */
	size_t num_programs;
	int status; /* the first failure, 0 = none */
	bool ending;
	bool end_requested;     /* by a signal or the timeout */
	int64_t kill_at_ms;     /* while ending */
	bool orphans_signalled; /* SIGTERM was sent to processes that programs left behind */
	bool is_done;           /* only the daemon is left */
};

/* Send SIGTERM to the process groups of the programs that run. */
static void begin_shutdown(struct run *run)
{
	if (run->ending)
		return;
	run->ending = true;
	run->kill_at_ms = sim_monotonic_ms() + CLI_RUN_GRACE_MS;
	for (size_t i = 0; i < run->num_programs; i++) {
		if (run->programs[i].pid > 0)
			kill(-run->programs[i].pid, SIGTERM);
	}
}

static void fail_run(struct run *run, int status)
{
	if (run->status == 0 && !run->ending)
		run->status = status;
	begin_shutdown(run);
}

static size_t count_running(const struct run *run)
{
	size_t count = 0;

	for (size_t i = 0; i < run->num_programs; i++)
		count += run->programs[i].pid > 0;
	return count;
}

static bool is_opposite_kind_running(const struct run *run, const struct cli_program *program)
{
	for (size_t i = 0; i < run->num_programs; i++) {
		const struct cli_program *other = &run->programs[i];

		if (other->pid > 0 && pcie_side_is_dpu(other->side) != pcie_side_is_dpu(program->side))
			return true;
	}
	return false;
}

static void end_unneeded_inputs(struct run *run)
{
	for (size_t i = 0; i < run->num_programs; i++) {
		if (!run->ending && !is_opposite_kind_running(run, &run->programs[i]))
			cli_program_end_input(&run->programs[i]);
	}
}

static struct sim_clock_page *clock_page(const struct run *run)
{
	return &sim_shared_state_of(&run->shared_state)->clock;
}

static void handle_program_exit(struct run *run, struct cli_program *program, int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : CLI_SIGNAL + WTERMSIG(status);

	program->pid = 0;
	sim_clock_launch_end(clock_page(run), &run->launches[program - run->programs]);
	if (code == 0)
		return;
	if (!run->ending)
		cli_fail("the command on %s ended with status %d%s", program->side, code,
			 count_running(run) > 0 ? "; ending the others" : "");
	fail_run(run, code);
}

static const struct sim_plan *session_plan(const struct run *run)
{
	return &sim_shared_state_of(&run->shared_state)->plan;
}

/* A rule may kill the daemon: then the run goes on, as it tests how programs react. */
static void handle_daemon_exit(struct run *run, int status)
{
	run->daemon = 0;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && cli_faults_killed_daemon(session_plan(run)))
		return;
	cli_fail("the session's daemon ended before the commands did; ending them");
	fail_run(run, CLI_FAILED);
}

static void handle_child_exit(struct run *run, pid_t pid, int status)
{
	if (pid == run->daemon) {
		handle_daemon_exit(run, status);
		return;
	}
	for (size_t i = 0; i < run->num_programs; i++) {
		if (run->programs[i].pid == pid)
			handle_program_exit(run, &run->programs[i], status);
	}
}

/* Print how many background processes the commands left. A run that is being ended does not print them. */
static void report_orphans(const struct run *run, unsigned int count)
{
	if (count > 0 && !run->ending)
		cli_fail("the commands have ended; ending %u process%s that they left in the background", count,
			 count > 1 ? "es" : "");
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
	if (count_running(run) > 0)
		return;
	num_orphans = cli_signal_children(run->orphans_signalled ? 0 : SIGTERM, run->daemon);
	report_orphans(run, num_orphans);
	begin_shutdown(run);
	run->is_done = num_orphans == 0;
	run->orphans_signalled = true;
}

static void handle_signals(struct run *run)
{
	struct signalfd_siginfo info;

	while (read(run->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGTERM) {
			run->end_requested = run->end_requested || !run->ending;
			begin_shutdown(run);
		} else {
			reap_children(run);
		}
	}
}

static void forward_output(struct run *run, struct cli_output_relay *relay)
{
	if (cli_output_relay_forward(relay) || run->ending)
		return;
	if (errno != EPIPE)
		cli_fail("cannot pass the output on: %s; ending the commands", strerror(errno));
	fail_run(run, errno == EPIPE ? CLI_SIGNAL + SIGPIPE : CLI_FAILED);
}

/* Wait for output and signals, and handle them. Output comes first, so that the output of a program precedes
 * the message about its end. */
static void wait_and_handle(struct run *run, struct pollfd *fds)
{
	size_t num_fds = 2 * run->num_programs;
	int64_t left_ms = run->ending ? run->kill_at_ms - sim_monotonic_ms() : -1;

	for (size_t i = 0; i < run->num_programs; i++) {
		fds[2 * i] = (struct pollfd){ .fd = run->programs[i].out.fd, .events = POLLIN };
		fds[2 * i + 1] = (struct pollfd){ .fd = run->programs[i].err.fd, .events = POLLIN };
	}
	fds[num_fds] = (struct pollfd){ .fd = run->signal_fd, .events = POLLIN };
	if (poll(fds, num_fds + 1, run->ending && left_ms < 0 ? 0 : (int)left_ms) <= 0)
		return;
	for (size_t i = 0; i < num_fds; i++) {
		if (fds[i].revents)
			forward_output(run, i % 2 ? &run->programs[i / 2].err : &run->programs[i / 2].out);
	}
	if (fds[num_fds].revents)
		handle_signals(run);
}

static void run_event_loop(struct run *run)
{
	struct pollfd *fds = calloc(2 * run->num_programs + 1, sizeof(*fds));

	if (!fds) {
		run->status = cli_fail("out of memory");
		return;
	}
	end_unneeded_inputs(run);
	while (!run->is_done && !(run->ending && sim_monotonic_ms() >= run->kill_at_ms))
		wait_and_handle(run, fds);
	free(fds);
}

static bool check_sides(const struct run *run)
{
	const char *dir = run->cfg->session_dir->dir;
	int dir_fd = cli_session_open(dir);
	struct pcie_topology *topology = dir_fd < 0 ? NULL : cli_topology_of_session(dir_fd, dir);
	const char *where = run->cfg->topology ? run->cfg->topology : "the built-in topology";
	bool found = topology;

	for (size_t i = 0; found && i < run->cfg->num_commands; i++)
		found = cli_check_side(topology, where, run->cfg->commands[i].side);
	pcie_topology_destroy(topology);
	if (dir_fd >= 0)
		close(dir_fd);
	return found;
}

/* Virtual time stands still until all have begun. */
static void begin_launches(struct run *run)
{
	if (run->cfg->clock != SIM_CLOCK_VIRTUAL)
		return;
	for (size_t i = 0; i < run->cfg->num_commands; i++)
		sim_clock_launch_begin(clock_page(run), (uint32_t)i + 1, &run->launches[i]);
}

static int start_programs(struct run *run)
{
	const struct cli_run_cfg *cfg = run->cfg;
	size_t width = 0;

	begin_launches(run);
	for (size_t i = 0; i < cfg->num_commands; i++)
		width = max_u64(width, strlen(cfg->commands[i].side));
	for (size_t i = 0; i < cfg->num_commands; i++) {
		char launch[SIM_CLOCK_LAUNCH_TEXT_SIZE];
		struct cli_program_cfg program = { .side = cfg->commands[i].side,
						   .text = cfg->commands[i].text,
						   .generation = cfg->commands[i].generation,
						   .dir = cfg->session_dir->dir,
						   .check = cfg->check,
						   .hits_path = run->hits.fd >= 0 ? run->hits.path : NULL,
						   .launch = launch,
						   .mask = run->original,
						   .name_width = (int)width };

		sim_clock_launch_write(&run->launches[i], launch);
		if (cli_program_start(&program, &run->programs[i]) < 0)
			return -1;
		run->num_programs++;
	}
	return 0;
}

static int prepare_run(struct run *run)
{
	sigset_t watched;

	sigemptyset(&watched);
	sigaddset(&watched, SIGCHLD);
	sigaddset(&watched, SIGTERM);
	run->signal_fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	if (run->signal_fd < 0)
		return cli_fail("cannot watch for the commands' ends: %s", strerror(errno));
	run->programs = calloc(run->cfg->num_commands, sizeof(*run->programs));
	run->launches = calloc(run->cfg->num_commands, sizeof(*run->launches));
	if (!run->programs || !run->launches)
		return cli_fail("out of memory");
	if (run->cfg->check->mode != SIM_CHECK_OFF && cli_check_hits_open(run->cfg->check, &run->hits) < 0)
		return -1;
	return check_sides(run) ? 0 : -1;
}

static int inject_faults(struct run *run)
{
	const char *dir = run->cfg->session_dir->dir;
	int dir_fd = cli_session_open(dir);
	int rc = dir_fd < 0 ? -1 : 0;

	if (rc == 0 && (rc = sim_control_map_shared_state(dir_fd, &run->shared_state)) < 0)
		cli_session_report_error(dir, rc);
	if (rc == 0)
		rc = cli_faults_send(run->cfg->faults, dir_fd, dir, false);
	if (dir_fd >= 0)
		close(dir_fd);
	return rc;
}

/* Name the rules that never hit: a test that did not inject its fault would pass for the wrong reason. After a failed
 * run, name the rules that hit, too. */
static void report_faults(struct run *run)
{
	bool with_hits = run->status != 0 || run->end_requested;

	if (cli_faults_report(session_plan(run), with_hits) > 0 && run->cfg->require_faults && run->status == 0)
		run->status = CLI_FAILED;
}

/* End the daemon, which removes its directory. Remove the directory here as well, for a daemon that was killed. */
static void end_daemon(struct run *run)
{
	struct timespec grace = { .tv_sec = CLI_RUN_GRACE_MS / 1000 };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	if (run->daemon > 0)
		kill(run->daemon, SIGTERM);
	while (run->daemon > 0 && waitpid(run->daemon, NULL, WNOHANG) == 0) {
		if (sigtimedwait(&child, NULL, &grace) < 0)
			break;
	}
	cli_kill_descendants(0);
	sim_session_dir_remove(run->cfg->session_dir);
}

/* Write the trace and the report. The daemon has the recordings, so it must still run. */
static void write_outputs(struct run *run)
{
	const char *dir = run->cfg->session_dir->dir, *trace = run->cfg->trace_path, *report = run->cfg->report_path;
	int status = CLI_OK;

	if (run->daemon <= 0) {
		if (trace || report)
			cli_fail("cannot write %s: the recordings were lost when the session's daemon ended",
				 trace ? trace : report);
		return;
	}
	if (trace)
		status = cli_trace_write(dir, cli_trace_format_of_file(trace), trace);
	if (report && cli_report_write_session(dir, report) != CLI_OK)
		status = CLI_FAILED;
	if (run->status == 0)
		run->status = status;
}

/* What the programs' status and the faults say comes before what the checker found. */
static void report_hits(struct run *run)
{
	int status = run->hits.fd >= 0 ? cli_check_results(&run->hits, run->cfg->check) : CLI_OK;

	if (run->status == 0)
		run->status = status;
}

int cli_run_worker(void *cfg, const sigset_t *original)
{
	struct run run = { .cfg = cfg, .original = original, .signal_fd = -1, .hits = { .fd = -1 } };
	struct sim_launch_cfg daemon = { .session_dir = run.cfg->session_dir,
					 .topology = run.cfg->topology,
					 .clock = run.cfg->clock,
					 .trace_level = run.cfg->trace_level,
					 .temporary = true };

	run.daemon = cli_daemon_start(&daemon);
	if (run.daemon < 0)
		return CLI_FAILED;
	if (prepare_run(&run) == 0 && inject_faults(&run) == 0 && start_programs(&run) == 0)
		run_event_loop(&run);
	else
		run.status = CLI_FAILED;
	cli_kill_descendants(run.daemon);
	if (run.num_programs > 0)
		report_faults(&run);
	for (size_t i = 0; i < run.num_programs; i++)
		cli_program_fini(&run.programs[i]);
	report_hits(&run);
	write_outputs(&run);
	end_daemon(&run);
	sim_segment_unmap(&run.shared_state);
	free(run.programs);
	free(run.launches);
	if (run.signal_fd >= 0)
		close(run.signal_fd);
	return run.status;
}
