/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon as a process: signals, limits, and the loop. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "sim/base/log.h"
#include "sim/base/watch.h"
#include "sim/protocol/session_dir.h"

/* Block SIGTERM, SIGINT and the hang-up of a terminal, which the event loop reads later, so that they never interrupt the start. */
static sigset_t block_signals(void)
{
	struct sigaction hangup;
	sigset_t term_signals;

	sigemptyset(&term_signals);
	sigaddset(&term_signals, SIGTERM);
	sigaddset(&term_signals, SIGINT);
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) /* ignored: as by nohup */
		sigaddset(&term_signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &term_signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a write beyond ulimit -f fails with EFBIG, which can be said */
	return term_signals;
}

static int watch_signals(struct daemon *daemon, const sigset_t *term_signals)
{
	daemon->signal_fd = signalfd(-1, term_signals, SFD_CLOEXEC);
	return daemon->signal_fd < 0 ? -errno : daemon_watch(daemon, daemon->signal_fd, &daemon->signals);
}

/* The system limits the number of inotify watches; a session also works without one. */
static void watch_dir(struct daemon *daemon)
{
	daemon->dir.kind = SOURCE_DIR;
	daemon->dir_watch_fd = sim_session_dir_watch(daemon->dir_fd);
	if (daemon->dir_watch_fd >= 0)
		daemon_watch(daemon, daemon->dir_watch_fd, &daemon->dir);
}

/* The daemon needs three descriptors for each process, and one for each shared object. */
static void raise_fd_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void notify_ready(int fd)
{
	if (fd < 0)
		return;
	if (write(fd, "", 1) < 0)
		sim_warn("no process waits for this session to be ready: %s", strerror(errno));
	close(fd);
}

/* A session over several machines is ready when its gateway is. Returns 0, or -ECHILD: that has ended, and said why. */
static int wait_for_gateway(struct daemon *daemon)
{
	int rc = daemon_gateway_open(daemon);

	while (rc == 0 && daemon_gateway_is_awaited(daemon) && !daemon->stop) {
		daemon_step(daemon, -1);
		if (daemon->gateway.pid == 0)
			rc = -ECHILD;
	}
	return rc;
}

int sim_daemon_run(const struct sim_daemon_cfg *cfg)
{
	sigset_t term_signals = block_signals();
	struct daemon daemon;
	int rc;

	raise_fd_limit();
	rc = daemon_open(&daemon, cfg);
	if (rc == 0)
		rc = watch_signals(&daemon, &term_signals);
	if (rc == 0) {
		watch_dir(&daemon);
		rc = wait_for_gateway(&daemon);
		if (rc == 0)
			notify_ready(cfg->ready_fd);
		while (rc == 0 && !daemon.stop)
			daemon_step(&daemon, -1);
		sim_watch_close(daemon.epoll_fd, daemon.dir_watch_fd);
	}
	daemon_close(&daemon);
	if (rc < 0 && daemon.created_dir)
		rmdir(cfg->dir);
	return rc;
}
