/* SPDX-License-Identifier: BSD-3-Clause */
/* The benchmarks: bfsim's cost relative to plain memcpy(), sockets, libfabric and DPDK.
 *
 *   bfsim_bench              all figures: a table, then each row as a line of JSON
 *   bfsim_bench FIGURE ...   some of them; --list names them
 *
 * Exit status 0: all figures ran, at any speed; 1: a figure did not work.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fig.h"

#define TIMEOUT_S 300
#define MAX_ROWS  256

static const struct figure {
	const char *name;
	int (*run)(const struct bench_report *report);
} figures[] = {
	{ "local", bench_fig_local },
	{ "remote", bench_fig_remote },
	{ "rate", bench_fig_rate },
	{ "latency", bench_fig_latency },
	{ "idle", bench_fig_idle },
	{ "attach", bench_fig_attach },
	{ "bufs", bench_fig_bufs },
	{ "control", bench_fig_control },
	{ "comch", bench_fig_comch },
	{ "comch-fast", bench_fig_comch_fast },
	{ "comch-many", bench_fig_comch_many },
	{ "rdma", bench_fig_rdma },
	{ "rdma-many", bench_fig_rdma_many },
	{ "workq", bench_fig_workq },
	{ "trace", bench_fig_trace },
	{ "time", bench_fig_time },
	{ "scale", bench_fig_scale },
	{ "functions", bench_fig_functions },
	{ "engines", bench_fig_engines },
	{ "dpa", bench_fig_dpa },
	{ "comm-channel", bench_fig_comm_channel },
	{ "faults", bench_fig_faults },
	{ "check", bench_fig_check },
};

#define NUM_FIGURES (sizeof(figures) / sizeof(figures[0]))

static struct bench_row rows[MAX_ROWS];
static unsigned int num_rows;

static void take_rows(int fd)
{
	while (num_rows < MAX_ROWS && read(fd, &rows[num_rows], sizeof(rows[0])) == sizeof(rows[0]))
		bench_print_row(&rows[num_rows++]);
}

static pid_t start_figure(const struct figure *figure, int *ret_fd)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return bench_fail("pipe: %s", strerror(errno));
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		struct bench_report report = { .fd = fds[1] };

		close(fds[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(TIMEOUT_S); /* a figure that hangs has failed; its processes are killed with it */
		exit(figure->run(&report) < 0);
	}
	close(fds[1]);
	if (pid < 0)
		close(fds[0]);
	else
		*ret_fd = fds[0];
	return pid;
}

static int run_figure(const struct figure *figure)
{
	int fd = -1, status = -1;
	pid_t pid = start_figure(figure, &fd);

	if (pid < 0)
		return -1;
	take_rows(fd);
	close(fd);
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return bench_fail("figure %s hangs", figure->name);
	return status == 0 ? 0 : bench_fail("figure %s failed", figure->name);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static const struct figure *find_figure(const char *name)
{
	for (size_t i = 0; i < NUM_FIGURES; i++)
		if (strcmp(figures[i].name, name) == 0)
			return &figures[i];
	return NULL;
}

static int run_figures(int count, char **names)
{
	int rc = 0;

	bench_print_head();
	for (size_t i = 0; count == 0 && i < NUM_FIGURES; i++)
		rc |= run_figure(&figures[i]);
	for (int i = 0; i < count; i++) {
		const struct figure *figure = find_figure(names[i]);

		rc |= figure ? run_figure(figure) : bench_fail("no figure is called %s; see --list", names[i]);
	}
	for (unsigned int i = 0; i < num_rows; i++)
		bench_print_json(&rows[i]);
	return rc;
}

int main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");
	char dir[64];
	int rc;

	if (argc == 3 && (strcmp(argv[2], "--attach") == 0 || strcmp(argv[2], "--no-attach") == 0))
		return bench_attach_probe(atoi(argv[1]), strcmp(argv[2], "--attach") == 0) < 0;
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (size_t i = 0; i < NUM_FIGURES; i++)
			puts(figures[i].name);
		return 0;
	}
	/* Files of killed figures are below this directory. */
	snprintf(dir, sizeof(dir), "%.24s/bfsim-bench-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return bench_fail("cannot make a directory %s: %s", dir, strerror(errno)), 1;
	setenv("TMPDIR", dir, 1);
	rc = run_figures(argc - 1, argv + 1);
	nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	return rc < 0;
}
