/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to a session's daemon from outside: exchange, fault plan, shared state. */
#include "control.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim/protocol/session_dir.h"
#include "sim/base/pidfd.h"
#include "sim/base/shell_quote.h"
#include "sim/base/last_error.h"

/* A daemon that lives and hangs up does not understand the request. */
static int exchange(int dir_fd, int sock, struct sim_msg *msg, int fd, int *ret_fd)
{
	struct timeval timeout = { .tv_sec = SIM_CONTROL_TIMEOUT_S };
	int rc;

	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	rc = sim_msg_send(sock, msg, fd);
	if (rc == 0)
		rc = sim_msg_recv(sock, msg, ret_fd);
	return rc == -EPIPE && sim_session_dir_is_live(dir_fd) ? -EPROTO : rc;
}

int sim_control_exchange(int dir_fd, struct sim_msg *msg, int fd, int *ret_fd)
{
	int sock = sim_session_dir_connect(dir_fd);
	int got_fd = -1, rc = sock;

	if (sock >= 0) {
		rc = exchange(dir_fd, sock, msg, fd, &got_fd);
		close(sock);
	}
	if (ret_fd)
		*ret_fd = got_fd;
	else if (got_fd >= 0)
		close(got_fd);
	return rc;
}

int sim_control_terminate(int dir_fd)
{
	int sock = sim_session_dir_connect(dir_fd), pidfd, rc;

	if (sock < 0)
		return sock;
	pidfd = sim_pidfd_of_peer(sock);
	close(sock);
	if (pidfd < 0)
		return pidfd;
	rc = sim_pidfd_send_signal(pidfd, SIGTERM) < 0 ? -errno : 0;
	close(pidfd);
	return rc;
}

static int request_status(int dir_fd, struct sim_msg *msg, int fd)
{
	int rc = sim_control_exchange(dir_fd, msg, fd, NULL);

	return rc < 0 ? rc : msg->status;
}

/* Returns a memfd that holds the delays, or -errno. */
static int create_delays_memfd(const struct sim_delays *delays)
{
	size_t len = sim_delays_size(delays->count);
	int fd = memfd_create("bfsim-delays", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (pwrite(fd, delays, len, 0) == (ssize_t)len)
		return fd;
	close(fd);
	return -ENOMEM;
}

int sim_control_add_fault(int dir_fd, const struct sim_rule *rule, const struct sim_delays *delays, uint32_t *ret_id)
{
	struct sim_msg msg = { .type = SIM_MSG_FAULT, .body.fault = { .change = SIM_FAULT_ADD, .rule = *rule } };
	int fd = delays ? create_delays_memfd(delays) : -1;
	int rc = delays && fd < 0 ? fd : request_status(dir_fd, &msg, fd);

	if (fd >= 0)
		close(fd);
	if (rc == 0)
		*ret_id = msg.body.fault.id;
	return rc;
}

int sim_control_change_faults(int dir_fd, enum sim_fault_change change, uint32_t id, uint64_t seed)
{
	struct sim_msg msg = { .type = SIM_MSG_FAULT, .body.fault = { .change = change, .id = id, .seed = seed } };

	return request_status(dir_fd, &msg, -1);
}

int sim_control_map_shared_state(int dir_fd, struct sim_segment *ret_shared)
{
	struct sim_msg msg = { .type = SIM_MSG_SHARED_STATE };
	int fd = -1, rc = sim_control_exchange(dir_fd, &msg, -1, &fd);

	if (rc == 0)
		rc = msg.status;
	if (rc == 0)
		rc = sim_shared_state_map(fd, ret_shared);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int set_timeout_error(const char *dir, int rc)
{
	char *quoted = sim_shell_quote(dir);

	sim_set_error(rc, "the daemon of session %s has not answered for %d s: is it stopped? fuser %s/lock names it",
		      dir, SIM_CONTROL_TIMEOUT_S, quoted ? quoted : dir);
	free(quoted);
	return rc;
}

int sim_control_set_error(const char *dir, int rc)
{
	if (rc == -EAGAIN)
		return set_timeout_error(dir, rc);
	if (rc == -EPROTO)
		return sim_set_error(
			rc,
			"the daemon of session %s is of another version of bfsim: use that version's bfsim, or end it with bfsim down",
			dir);
	if (rc == -EPERM || rc == -EACCES)
		return sim_set_error(rc, "cannot use session %s: %s", dir, sim_session_dir_strerror(rc));
	if (rc == -EINVAL)
		return sim_set_error(
			rc,
			"the daemon of session %s refuses what this bfsim takes: start it again with this build of bfsim",
			dir);
	return sim_set_error(rc, "cannot speak to the daemon of session %s: %s; see %s/bfsimd.log", dir, strerror(-rc),
			     dir);
}
