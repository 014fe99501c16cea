/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "ofi_priv.h"

#define REPLY_POLL_MS 1 /* between looks at whether to give up */

static int say(const struct sim_ofi_visit *visit, const struct sim_ofi_msg *msg)
{
	return send(visit->fd, msg, sizeof(*msg), MSG_NOSIGNAL) == sizeof(*msg) ? 0 : -ECONNRESET;
}

/* Receive one message and, with HELLO's answer, a descriptor. -EAGAIN: nothing yet. */
static int hear(const struct sim_ofi_visit *visit, struct sim_ofi_msg *ret_msg, int *ret_fd)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = {.iov_base = ret_msg, .iov_len = sizeof(*ret_msg)};
	struct msghdr hdr = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(visit->fd, &hdr, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *cmsg;

	*ret_fd = -1;
	if (got < 0 && errno == ECONNRESET) /* closed before it heard us; what it said before that is still there */
		got = recvmsg(visit->fd, &hdr, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -ECONNRESET;
	cmsg = CMSG_FIRSTHDR(&hdr);
	if (cmsg && cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS &&
	    cmsg->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(cmsg), sizeof(int));
	return got == sizeof(*ret_msg) ? 0 : -ECONNRESET;
}

static int ask(const struct sim_ofi_visit *visit, struct sim_ofi_msg *msg, struct sim_ofi_wait *wait, int *ret_fd)
{
	int rc = say(visit, msg);

	sim_ofi_wait_reset(wait);
	if (rc < 0)
		return hear(visit, msg, ret_fd) == 0 ? 0 : rc; /* turned away at once, perhaps with a reason */
	while (rc == 0) {
		struct pollfd ready = {.fd = visit->fd, .events = POLLIN};

		poll(&ready, 1, REPLY_POLL_MS);
		rc = hear(visit, msg, ret_fd);
		if (rc != -EAGAIN)
			break;
		wait->rounds = 0; /* a look at the clock every time: poll() slept */
		rc = sim_ofi_wait_round(wait);
	}
	return rc;
}

static int knock(const char *target_name, struct sim_ofi_visit *visit)
{
	struct sockaddr_un addr;

	sim_ofi_door_addr(target_name, &addr);
	visit->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (visit->fd < 0)
		return -errno;
	if (connect(visit->fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
		return 0;
	/* Many wait at the door; or refused or no such file: its owner died or closed it. */
	return errno == EAGAIN ? -EBUSY : -EHOSTUNREACH;
}

int sim_ofi_visit_begin(const char *target_name, const char *name, struct sim_ofi_wait *wait,
			struct sim_ofi_visit *ret_visit)
{
	struct sim_ofi_msg msg = {.kind = SIM_OFI_MSG_HELLO};
	struct sim_ofi_visit visit = {.fd = -1};
	int rc, room_fd = -1;

	strncpy(msg.name, name, sizeof(msg.name) - 1);
	rc = knock(target_name, &visit);
	if (rc == 0)
		rc = ask(&visit, &msg, wait, &room_fd);
	if (rc == 0)
		rc = msg.status;
	if (rc == 0 && (room_fd < 0 || msg.slot >= SIM_OFI_DOOR_SLOTS))
		rc = -EPROTO;
	if (rc == 0)
		rc = sim_ofi_room_map(room_fd, &visit.room);
	if (room_fd >= 0)
		close(room_fd);
	if (rc < 0) {
		sim_ofi_visit_end(&visit);
		return rc;
	}
	visit.slot = msg.slot;
	*ret_visit = visit;
	return 0;
}

void sim_ofi_visit_end(struct sim_ofi_visit *visit)
{
	if (visit->fd >= 0)
		close(visit->fd);
	sim_ofi_room_unmap(visit->room);
	*visit = (struct sim_ofi_visit){.fd = -1};
}

int sim_ofi_visit_check(struct sim_ofi_visit *visit, uint64_t key, uint64_t len, bool writable,
			struct sim_ofi_wait *wait, uint32_t *ret_hides)
{
	struct sim_ofi_msg msg = {.kind = SIM_OFI_MSG_CHECK, .key = key, .len = len, .writable = writable};
	int rc, stray_fd = -1;

	rc = ask(visit, &msg, wait, &stray_fd);
	if (stray_fd >= 0)
		close(stray_fd);
	if (rc < 0)
		return rc;
	*ret_hides = msg.hides;
	return msg.status;
}

void sim_ofi_visit_beat(struct sim_ofi_visit *visit)
{
	const struct sim_ofi_msg msg = {.kind = SIM_OFI_MSG_RING};

	atomic_fetch_add(&visit->room->beats, 1);
	/* Pairs with the target going to sleep: it sets asleep, then looks at beats. */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&visit->room->asleep, memory_order_relaxed) &&
	    atomic_exchange(&visit->room->asleep, 0))
		send(visit->fd, &msg, sizeof(msg), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool sim_ofi_visit_over(const struct sim_ofi_visit *visit)
{
	char byte;
	ssize_t got = recv(visit->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}
