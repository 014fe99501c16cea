/* SPDX-License-Identifier: BSD-3-Clause */
/* The process of the gateway: started with the session, started again when it ends, ended with the session. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "pcie_model/arith.h"
#include "sim/clock/thread_account.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"
#include "sim/base/pidfd.h"
#include "sim/base/watch.h"

#define RESTART_MS      1000
#define SILENCE_MS      7000 /* a gateway reports each second */
#define SUSPICION_MS    500  /* this process may have been stopped, too */
#define BUSY_MS         1500 /* more for one that is not stopped: it may wait for a CPU */
#define MAX_RESTARTS    60
#define LONG_RUN_MS     60000 /* after which earlier ends do not count */
#define END_TIMEOUT_MS  2000
#define MAX_FETCH_BYTES (1u << 20)
#define MAX_ARGS        24
#define MAX_ADDRESS     512

/* The program of that name beside this one. The caller frees the path. */
static char *find_beside(const char *name)
{
	char self[PATH_MAX], *slash, *path = NULL;
	ssize_t len;

	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len < 0)
		return NULL;
	self[len] = '\0';
	slash = strrchr(self, '/');
	if (!slash || asprintf(&path, "%.*s/%s", (int)(slash - self), self, name) < 0)
		return NULL;
	return path;
}

/* Beside this program, unless the variable says where. The caller frees it. */
static char *find_program(void)
{
	const char *given = getenv("BFSIM_GATEWAY");

	return given && given[0] ? strdup(given) : find_beside("bfsim-gateway");
}

/* Where this machine listens. A gateway that is started again uses the port that the other machines know, though any was wanted. */
static void write_listen(const struct sim_machines_cfg *cfg, uint32_t port, char *text, size_t len)
{
	const char *colon = strrchr(cfg->listen, ':');

	if (port > 0)
		snprintf(text, len, "%.*s%u", colon ? (int)(colon + 1 - cfg->listen) : 0, cfg->listen, port);
	else
		snprintf(text, len, "%s", cfg->listen);
}

/* @dir is the session's directory; NULL = fetch what home says of the session. @bfsim may be NULL. */
static void fill_arguments(const struct sim_machines_cfg *cfg, const char *program, const char *bfsim, const char *dir,
			   const char *listen, bool is_again, const char *argv[MAX_ARGS])
{
	const char **arg = argv;

	*arg++ = program;
	*arg++ = "--as";
	*arg++ = cfg->name;
	*arg++ = "--token-file";
	*arg++ = cfg->token_file;
	if (cfg->join) {
		*arg++ = "--join";
		*arg++ = cfg->join;
	}
	if (cfg->listen && dir) {
		*arg++ = "--listen";
		*arg++ = listen;
		if (cfg->advertise) {
			*arg++ = "--advertise";
			*arg++ = cfg->advertise;
		}
	}
	if (cfg->fabric) {
		*arg++ = "--fabric";
		*arg++ = cfg->fabric;
	}
	if (cfg->is_trusted)
		*arg++ = "--trusted-network";
	if (cfg->allows_exec)
		*arg++ = "--allow-exec";
	if (bfsim) {
		*arg++ = "--bfsim";
		*arg++ = bfsim;
	}
	*arg++ = dir ? "--session" : "--fetch";
	if (dir)
		*arg++ = dir;
	if (is_again)
		*arg++ = "--again";
	*arg = NULL;
}

/* The child. A daemon that is killed takes it along. */
static void __attribute__((noreturn)) exec_gateway(const char *program, const char *const *argv, pid_t daemon, int out)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != daemon)
		_exit(EXIT_FAILURE);
	if (out >= 0)
		dup2(out, STDOUT_FILENO);
	close_range(STDERR_FILENO + 1, UINT_MAX, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	execv(program, (char *const *)argv);
	dprintf(STDERR_FILENO,
		"bfsim: cannot start %s: %s; sessions over several machines need it, and it is built where libfabric and OpenSSL 3 are (libfabric-dev, libssl-dev); BFSIM_GATEWAY says where it is\n",
		program, strerror(errno));
	_exit(EXIT_FAILURE);
}

/* Returns the child's pid or -errno. */
static pid_t start(const struct sim_machines_cfg *cfg, const char *dir, const struct gateway *gateway, int out)
{
	char *program = find_program(), *bfsim = find_beside("bfsim"), listen[MAX_ADDRESS] = "";
	const char *argv[MAX_ARGS];
	pid_t daemon = getpid(), pid;

	if (!program) {
		free(bfsim);
		return -ENOMEM;
	}
	if (cfg->listen && gateway)
		write_listen(cfg, gateway->port, listen, sizeof(listen));
	fill_arguments(cfg, program, bfsim, dir, listen, gateway && gateway->is_ready, argv);
	pid = fork();
	if (pid == 0)
		exec_gateway(program, argv, daemon, out);
	free(bfsim);
	free(program);
	return pid < 0 ? -errno : pid;
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ECHILD;
}

/* ---- what home says of the session ---- */

/* Returns the length, or -errno. The gateway ends the wait. */
static ssize_t read_all(int fd, char *to, size_t room)
{
	size_t len = 0;
	ssize_t got;

	while (len < room && (got = read(fd, to + len, room - len)) != 0) {
		if (got < 0 && errno != EINTR)
			return -errno;
		len += got > 0 ? (size_t)got : 0;
	}
	return len < room ? (ssize_t)len : -EFBIG;
}

static int read_hex(const char *text, uint8_t *to, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned int byte;

		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return -EPROTO;
		to[i] = (uint8_t)byte;
	}
	return 0;
}

/* "SESSION CLOCK\n", then the topology. */
static int parse_fetched(struct daemon *daemon, char *text, size_t len, enum sim_clock_mode *ret_clock, char **ret_yaml,
			 size_t *ret_len)
{
	char *end = memchr(text, '\n', len), *clock = memchr(text, ' ', len);

	if (!end || !clock || clock > end || clock - text != 2 * SIM_SESSION_ID_SIZE)
		return -EPROTO;
	*end++ = '\0';
	*clock++ = '\0';
	if (read_hex(text, daemon->session, sizeof(daemon->session)) < 0 || sim_clock_mode_parse(clock, ret_clock) < 0)
		return -EPROTO;
	*ret_len = len - (size_t)(end - text);
	*ret_yaml = strndup(end, *ret_len);
	return *ret_yaml ? 0 : -ENOMEM;
}

static int run_fetch(const struct sim_machines_cfg *cfg, char *text, ssize_t *ret_len)
{
	int out[2], rc;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	pid = start(cfg, NULL, NULL, out[1]);
	close(out[1]);
	*ret_len = pid < 0 ? pid : read_all(out[0], text, MAX_FETCH_BYTES);
	close(out[0]);
	rc = pid < 0 ? pid : wait_for(pid); /* the child has said why it failed */
	return *ret_len < 0 ? (int)*ret_len : rc;
}

int daemon_gateway_fetch(const struct sim_machines_cfg *cfg, struct daemon *daemon, char **ret_yaml, size_t *ret_len,
			 enum sim_clock_mode *ret_clock)
{
	char *text = malloc(MAX_FETCH_BYTES);
	ssize_t len = 0;
	int rc = text ? run_fetch(cfg, text, &len) : -ENOMEM;

	if (rc == 0)
		rc = parse_fetched(daemon, text, (size_t)len, ret_clock, ret_yaml, ret_len);
	free(text);
	return rc;
}

/* ---- the machine ---- */

/* The topology has a machine of the name that was given. */
int daemon_find_machine(struct daemon *daemon)
{
	const struct sim_machines_cfg *machines = daemon->gateway.cfg;

	if (!machines)
		return 0;
	if (!pcie_topology_find_machine(daemon->topology, machines->name, &daemon->machine_number)) {
		sim_err("the topology has no machine %s: a side of it would be %s/host; see its sides with bfsim devs --topology FILE",
			machines->name, machines->name);
		return -EINVAL;
	}
	snprintf(daemon->machine, sizeof(daemon->machine), "%s", machines->name);
	return 0;
}

/* ---- the process ---- */

/* A process whose end would not be seen is ended. */
static int watch(struct daemon *daemon)
{
	struct gateway *gateway = &daemon->gateway;
	int rc;

	gateway->pidfd = sim_pidfd_open(gateway->pid);
	rc = gateway->pidfd < 0 ? -errno : daemon_watch(daemon, gateway->pidfd, &gateway->source);
	if (rc == 0)
		return 0;
	kill(gateway->pid, SIGKILL);
	wait_for(gateway->pid);
	if (gateway->pidfd >= 0)
		close(gateway->pidfd);
	gateway->pidfd = -1;
	gateway->pid = 0;
	return rc;
}

static int launch(struct daemon *daemon)
{
	struct gateway *gateway = &daemon->gateway;
	char dir[PATH_MAX], link[64];
	ssize_t len;
	pid_t pid;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", daemon->dir_fd);
	len = readlink(link, dir, sizeof(dir) - 1);
	if (len < 0)
		return -errno;
	dir[len] = '\0';
	gateway->num_starts++;
	gateway->start_ms = sim_monotonic_ms();
	pid = start(gateway->cfg, dir, gateway, -1);
	if (pid < 0)
		return pid;
	gateway->pid = pid;
	return watch(daemon);
}

static void forget(struct daemon *daemon)
{
	sim_watch_close(daemon->epoll_fd, daemon->gateway.pidfd);
	daemon->gateway.pidfd = -1;
	daemon->gateway.pid = 0;
	daemon->gateway.silent_ms = 0;
}

int daemon_gateway_open(struct daemon *daemon)
{
	return daemon->gateway.cfg ? launch(daemon) : 0;
}

bool daemon_gateway_is_awaited(const struct daemon *daemon)
{
	return daemon->gateway.cfg && !daemon->gateway.is_ready;
}

static void restart_later(struct gateway *gateway)
{
	uint64_t now_ms = sim_monotonic_ms();

	if (now_ms - gateway->start_ms >= LONG_RUN_MS)
		gateway->num_starts = 0;
	if (gateway->num_starts > MAX_RESTARTS)
		sim_err("the gateway to other machines has ended %u times and is not started again; the session goes on without them",
			gateway->num_starts);
	else
		gateway->restart_ms = now_ms + RESTART_MS;
}

void daemon_gateway_ended(struct daemon *daemon)
{
	struct gateway *gateway = &daemon->gateway;

	if (gateway->pid == 0)
		return;
	wait_for(gateway->pid);
	forget(daemon);
	free(gateway->status); /* it knows of no machine until the next one has started */
	gateway->status = NULL;
	if (!gateway->is_ready)
		return;
	sim_warn("the gateway to other machines has ended: connections to them are broken; it is started again");
	restart_later(gateway);
}

uint64_t daemon_gateway_deadline_ms(const struct daemon *daemon)
{
	const struct gateway *gateway = &daemon->gateway;

	return min_u64(gateway->restart_ms > 0 ? gateway->restart_ms : UINT64_MAX,
		       gateway->silent_ms > 0 ? gateway->silent_ms : UINT64_MAX);
}

void daemon_gateway_heard(struct daemon *daemon)
{
	daemon->gateway.silent_ms = sim_monotonic_ms() + SILENCE_MS;
	daemon->gateway.is_suspected = daemon->gateway.is_spared = false;
}

static bool is_runnable(const struct gateway *gateway)
{
	struct sim_thread_account account;

	sim_thread_account_read((uint32_t)gateway->pid, (uint32_t)gateway->pid, &account);
	return account.state == SIM_THREAD_RUNS;
}

/* Programs wait for its answers without a limit of their own. */
static void end_silent(struct daemon *daemon, uint64_t now_ms)
{
	struct gateway *gateway = &daemon->gateway;

	if (!gateway->is_suspected) {
		gateway->is_suspected = true;
		gateway->silent_ms = now_ms + SUSPICION_MS;
		return;
	}
	if (!gateway->is_spared && is_runnable(gateway)) {
		gateway->is_spared = true;
		gateway->silent_ms = now_ms + BUSY_MS;
		return;
	}
	gateway->silent_ms = 0;
	sim_warn(
		"the gateway to other machines has given no sign of life for %s seconds (stopped, or in a debugger?): it is ended",
		gateway->is_spared ? "nine" : "seven");
	kill(gateway->pid, SIGKILL);
}

void daemon_gateway_run(struct daemon *daemon, uint64_t now_ms)
{
	struct gateway *gateway = &daemon->gateway;
	int rc;

	if (gateway->pid > 0 && gateway->silent_ms > 0 && gateway->silent_ms <= now_ms)
		end_silent(daemon, now_ms);
	if (gateway->restart_ms == 0 || gateway->restart_ms > now_ms)
		return;
	gateway->restart_ms = 0;
	rc = launch(daemon);
	if (rc == 0)
		return;
	sim_err("cannot start the gateway to other machines: %s", strerror(-rc));
	restart_later(gateway);
}

/* Tell it that the session ends, so that it says goodbye to the other machines. A gateway that ends for another reason does not. */
static void tell_to_leave(const struct gateway *gateway)
{
	struct sim_msg msg = { .type = SIM_MSG_SHUTDOWN };

	if (!gateway->conn || sim_msg_send(gateway->conn->sock, &msg, -1) < 0)
		kill(gateway->pid, SIGTERM);
}

void daemon_gateway_close(struct daemon *daemon)
{
	struct gateway *gateway = &daemon->gateway;
	struct pollfd ended = { .fd = gateway->pidfd, .events = POLLIN };

	if (gateway->pid > 0) {
		tell_to_leave(gateway);
		if (gateway->pidfd < 0 || poll(&ended, 1, END_TIMEOUT_MS) != 1)
			kill(gateway->pid, SIGKILL);
		wait_for(gateway->pid);
		forget(daemon);
	}
	free(gateway->status);
	gateway->status = NULL;
}
