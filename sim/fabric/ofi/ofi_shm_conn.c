/* SPDX-License-Identifier: BSD-3-Clause */
/* shm: an importer's connection to a target's listener. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "ofi_priv.h"

#define REPLY_POLL_MS 1 /* between checks for a revocation or timeout */

static int send_msg(const struct sim_ofi_shm_conn *conn, const struct sim_ofi_msg *msg)
{
	return send(conn->fd, msg, sizeof(*msg), MSG_NOSIGNAL) == sizeof(*msg) ? 0 : -ECONNRESET;
}

/* Receive one message and, with the handshake's reply, a descriptor. -EAGAIN: nothing yet. */
static int recv_msg(const struct sim_ofi_shm_conn *conn, struct sim_ofi_msg *ret_msg, int *ret_fd)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { .iov_base = ret_msg, .iov_len = sizeof(*ret_msg) };
	struct msghdr hdr = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	ssize_t got = recvmsg(conn->fd, &hdr, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *cmsg;

	*ret_fd = -1;
	if (got < 0 && errno == ECONNRESET) /* closed with our message unread; earlier replies can still be received */
		got = recvmsg(conn->fd, &hdr, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -ECONNRESET;
	cmsg = CMSG_FIRSTHDR(&hdr);
	if (cmsg && cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS &&
	    cmsg->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(cmsg), sizeof(int));
	return got == sizeof(*ret_msg) ? 0 : -ECONNRESET;
}

static int call_listener(const struct sim_ofi_shm_conn *conn, struct sim_ofi_msg *msg, struct sim_ofi_wait *wait,
			 int *ret_fd)
{
	int rc = send_msg(conn, msg);

	sim_ofi_wait_reset(wait);
	if (rc < 0)
		return recv_msg(conn, msg, ret_fd) == 0 ? 0 : rc; /* rejected at once, perhaps with a status */
	while (rc == 0) {
		struct pollfd ready = { .fd = conn->fd, .events = POLLIN };

		poll(&ready, 1, REPLY_POLL_MS);
		rc = recv_msg(conn, msg, ret_fd);
		if (rc != -EAGAIN)
			break;
		wait->rounds = 0; /* read the clock in each round, since poll() slept */
		rc = sim_ofi_wait_round(wait);
	}
	return rc;
}

static int connect_listener(const char *target_name, struct sim_ofi_shm_conn *conn)
{
	struct sockaddr_un addr;

	sim_ofi_shm_listener_addr(target_name, &addr);
	conn->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (conn->fd < 0)
		return -errno;
	if (connect(conn->fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
		return 0;
	/* EAGAIN: the backlog is full. Else the target died or closed the listener. */
	return errno == EAGAIN ? -EBUSY : -EHOSTUNREACH;
}

int sim_ofi_shm_conn_open(const char *target_name, const char *name, struct sim_ofi_wait *wait,
			  struct sim_ofi_shm_conn *ret_conn)
{
	struct sim_ofi_msg msg = { .kind = SIM_OFI_MSG_HANDSHAKE };
	struct sim_ofi_shm_conn conn = { .fd = -1 };
	int rc, ctrl_fd = -1;

	strncpy(msg.name, name, sizeof(msg.name) - 1);
	rc = connect_listener(target_name, &conn);
	if (rc == 0)
		rc = call_listener(&conn, &msg, wait, &ctrl_fd);
	if (rc == 0)
		rc = msg.status;
	if (rc == 0 && (ctrl_fd < 0 || msg.slot >= SIM_OFI_SHM_MAX_CLIENTS))
		rc = -EPROTO;
	if (rc == 0)
		rc = sim_ofi_shm_ctrl_map(ctrl_fd, &conn.ctrl);
	if (ctrl_fd >= 0)
		close(ctrl_fd);
	if (rc < 0) {
		sim_ofi_shm_conn_close(&conn);
		return rc;
	}
	conn.slot = msg.slot;
	*ret_conn = conn;
	return 0;
}

void sim_ofi_shm_conn_close(struct sim_ofi_shm_conn *conn)
{
	if (conn->fd >= 0)
		close(conn->fd);
	sim_ofi_shm_ctrl_unmap(conn->ctrl);
	*conn = (struct sim_ofi_shm_conn){ .fd = -1 };
}

int sim_ofi_shm_conn_check_key(struct sim_ofi_shm_conn *conn, uint64_t key, uint64_t len, bool writable,
			       struct sim_ofi_wait *wait, uint32_t *ret_dereg_count)
{
	struct sim_ofi_msg msg = { .kind = SIM_OFI_MSG_CHECK_KEY, .key = key, .len = len, .writable = writable };
	int rc, stray_fd = -1;

	rc = call_listener(conn, &msg, wait, &stray_fd);
	if (stray_fd >= 0)
		close(stray_fd);
	if (rc < 0)
		return rc;
	*ret_dereg_count = msg.dereg_count;
	return msg.status;
}

void sim_ofi_shm_conn_ring_doorbell(struct sim_ofi_shm_conn *conn)
{
	const struct sim_ofi_msg msg = { .kind = SIM_OFI_MSG_DOORBELL };

	atomic_fetch_add(&conn->ctrl->doorbell, 1);
	/* Pairs with the target, which sets asleep and then reads doorbell. */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&conn->ctrl->asleep, memory_order_relaxed) && atomic_exchange(&conn->ctrl->asleep, 0))
		send(conn->fd, &msg, sizeof(msg), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool sim_ofi_shm_conn_is_closed(const struct sim_ofi_shm_conn *conn)
{
	char byte;
	ssize_t got = recv(conn->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}
