/* SPDX-License-Identifier: BSD-3-Clause */
/* What the system does to processes: it stops and continues them, refuses descriptors, or the application forks. */
#include "hostile.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc.h"

#define STOP_S 12 /* an importer waits ten seconds for a stopped exporter, and two for its own end */

/* The data paths of memory; Comch's control path, and its data path. */
static const char *const paths[] = { "mapped", "procmem", "cma", "shm", "tcp", "comch", "fast", NULL };

enum { HOST, DPU };

/* The honest program of a side. */
static int run_honest(struct bout *bout, int side, int sock)
{
	if (strcmp(bout->path, "comch") == 0)
		return (side == HOST ? role_client : role_server)(bout, sock);
	if (strcmp(bout->path, "fast") == 0)
		return (side == HOST ? role_fast_client : role_fast_server)(bout, sock);
	return (side == HOST ? role_exporter : role_importer)(bout, sock);
}

static int run_host(struct bout *bout, int sock)
{
	return run_honest(bout, HOST, sock);
}

static int run_dpu(struct bout *bout, int sock)
{
	return run_honest(bout, DPU, sock);
}

static void start_pair(struct bout *bout, role_body *host, role_body *dpu, struct party *ret_pair[2])
{
	int socks[2];

	if (strcmp(bout->path, "comch") == 0 || strcmp(bout->path, "fast") == 0)
		setenv("BFSIM_PATH", "", 1);
	bout_session(bout);
	bout_pair(socks);
	ret_pair[HOST] = bout_start(bout, "host", "host", host, socks[0]);
	ret_pair[DPU] = bout_start(bout, "dpu", "dpu", dpu, socks[1]);
	close(socks[0]);
	close(socks[1]);
}

/* ---- signals: stops of either process or the daemon ---- */

static void stop_and_continue(struct bout *bout)
{
	struct party *pair[2];

	start_pair(bout, run_host, run_dpu, pair);
	for (int i = 0; i < 5; i++) {
		uint64_t which = bout_random(bout, 3);
		const struct party *party = which < 2 ? pair[which] : bout->daemon;

		kill(party->pid, SIGSTOP);
		bout_pause(bout, 20);
		kill(party->pid, SIGCONT);
		bout->tally->tried++;
	}
}

const struct attack attack_signals = { "signals", paths, 30, 1, stop_and_continue };

/* The host stops in the middle of the exchange, and stays stopped until the DPU has ended: after a deadline of its own,
 * or in time if it needs nothing from the host. Comch peers wait for each other, as on a card: there the stop ends
 * before their time is over. */

static bool is_comch(const struct bout *bout)
{
	return strcmp(bout->path, "comch") == 0 || strcmp(bout->path, "fast") == 0;
}

/* Once there is a descriptor: without one, an importer waits for ever. */
static int run_stopping_importer(struct bout *bout, int sock)
{
	uint8_t descriptor[4096];
	size_t len = role_read_descriptor(sock, descriptor, sizeof(descriptor));
	pid_t host = bout->parties[bout->num_parties - 2].pid, stopper;
	int end;

	CHECK(len > 0);
	stopper = fork();
	if (stopper == 0) {
		bout_pause(bout, 30);
		kill(host, SIGSTOP);
		_exit(0);
	}
	end = role_copy_from(bout, descriptor, len, 60);
	CHECK(stopper > 0 && waitpid(stopper, NULL, 0) == stopper);
	return end;
}

static void stop_for_long(struct bout *bout)
{
	struct party *pair[2];

	start_pair(bout, run_host, is_comch(bout) ? run_dpu : run_stopping_importer, pair);
	bout->tally->tried++;
	if (is_comch(bout)) {
		bout_pause(bout, 60);
		kill(pair[HOST]->pid, SIGSTOP);
		bout_pause(bout, 2000);
	} else {
		bout->patience_s += STOP_S;
		bout_wait(bout, pair[DPU]);
	}
	kill(pair[HOST]->pid, SIGCONT);
}

const struct attack attack_stop = { "stop", paths, 3, 0, stop_for_long };

/* ---- limits: few descriptors, little address space ---- */

static struct rlimit before_fds;

static void limit(struct bout *bout)
{
	rlim_t fds = 4 + bout_random(bout, 16), bytes = (rlim_t)(16 + bout_random(bout, 112)) << 20;

	CHECK(getrlimit(RLIMIT_NOFILE, &before_fds) == 0);
	if (bout_random(bout, 2) || PROC_IS_SLOW) /* a sanitizer can't do without address space */
		CHECK(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ fds, before_fds.rlim_max }) == 0);
	else
		CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){ bytes, bytes }) == 0);
	__atomic_fetch_add(&bout->tally->tried, 1, __ATOMIC_RELAXED);
}

/* LeakSanitizer needs descriptors at the exit. */
static int end_limit(int result)
{
	CHECK(setrlimit(RLIMIT_NOFILE, &before_fds) == 0);
	return result;
}

static int run_limited_host(struct bout *bout, int sock)
{
	limit(bout);
	return end_limit(run_host(bout, sock));
}

static int run_limited_dpu(struct bout *bout, int sock)
{
	limit(bout);
	return end_limit(run_dpu(bout, sock));
}

static void run_limited(struct bout *bout)
{
	bool host = bout_random(bout, 2);
	struct party *pair[2];

	bout_connect_within(bout, 1000);
	start_pair(bout, host ? run_limited_host : run_host, host ? run_dpu : run_limited_dpu, pair);
}

const struct attack attack_limits = { "limits", paths, 60, 2, run_limited };

/* ---- forks: another thread forks in the middle of whatever runs; the child ends without handlers of exit ---- */

static void *fork_often(void *over)
{
	while (!atomic_load((atomic_bool *)over)) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid);
	}
	return NULL;
}

static int run_forking_dpu(struct bout *bout, int sock)
{
	atomic_bool over = false;
	pthread_t thread;
	int result;

	CHECK(pthread_create(&thread, NULL, fork_often, &over) == 0);
	result = run_dpu(bout, sock);
	atomic_store(&over, true);
	CHECK(pthread_join(thread, NULL) == 0);
	__atomic_fetch_add(&bout->tally->tried, 1, __ATOMIC_RELAXED);
	return result;
}

static void run_forking(struct bout *bout)
{
	struct party *pair[2];

	start_pair(bout, run_host, run_forking_dpu, pair);
}

const struct attack attack_fork = { "fork", paths, 20, 1, run_forking };
