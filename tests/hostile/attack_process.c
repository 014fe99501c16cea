/* SPDX-License-Identifier: BSD-3-Clause */
/* What the system does to processes: it stops and continues them, refuses descriptors, or the application forks. */
#include "hostile.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void start_pair(struct bout *bout, role_body *exporter, role_body *importer, struct party *ret_pair[2])
{
	int socks[2];

	bout_session(bout);
	bout_pair(socks);
	ret_pair[0] = bout_start(bout, "exporter", "host", exporter, socks[0]);
	ret_pair[1] = bout_start(bout, "importer", "dpu", importer, socks[1]);
	close(socks[0]);
	close(socks[1]);
}

/* ---- signals: stops of either process or the daemon ---- */

static void stop_and_continue(struct bout *bout)
{
	struct party *pair[2];

	start_pair(bout, role_exporter, role_importer, pair);
	for (int i = 0; i < 5; i++) {
		uint64_t which = bout_random(bout, 3);
		const struct party *party = which < 2 ? pair[which] : bout->daemon;

		kill(party->pid, SIGSTOP);
		bout_pause(bout, 20);
		kill(party->pid, SIGCONT);
		bout->tally->tried++;
	}
}

const struct attack attack_signals = { "signals", attack_all_paths, 30, 1, stop_and_continue };

/* ---- limits: few descriptors, little address space ---- */

static void limit(struct bout *bout)
{
	rlim_t fds = 4 + bout_random(bout, 16), bytes = (rlim_t)(16 + bout_random(bout, 112)) << 20;

	if (bout_random(bout, 2))
		CHECK(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ fds, fds }) == 0);
	else
		CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){ bytes, bytes }) == 0);
	__atomic_fetch_add(&bout->tally->tried, 1, __ATOMIC_RELAXED);
}

static int limited_exporter(struct bout *bout, int sock)
{
	limit(bout);
	return role_exporter(bout, sock);
}

static int limited_importer(struct bout *bout, int sock)
{
	limit(bout);
	return role_importer(bout, sock);
}

static void run_limited(struct bout *bout)
{
	bool exporter = bout_random(bout, 2);
	struct party *pair[2];

	start_pair(bout, exporter ? limited_exporter : role_exporter, exporter ? role_importer : limited_importer,
		   pair);
}

const struct attack attack_limits = { "limits", attack_all_paths, 60, 2, run_limited };

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

static int forking_importer(struct bout *bout, int sock)
{
	atomic_bool over = false;
	pthread_t thread;
	int result;

	CHECK(pthread_create(&thread, NULL, fork_often, &over) == 0);
	result = role_importer(bout, sock);
	atomic_store(&over, true);
	CHECK(pthread_join(thread, NULL) == 0);
	__atomic_fetch_add(&bout->tally->tried, 1, __ATOMIC_RELAXED);
	return result;
}

static void run_forking(struct bout *bout)
{
	struct party *pair[2];

	start_pair(bout, role_exporter, forking_importer, pair);
}

const struct attack attack_fork = { "fork", attack_all_paths, 20, 1, run_forking };
