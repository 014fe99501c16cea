/* SPDX-License-Identifier: BSD-3-Clause */
/* shm: the target's listener, which admits clients, checks keys and serves the region. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ofi_priv.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"

#define ROUNDS_PER_POLL       32         /* between polls of the sockets while awake, as a poll is a system call */
#define LOCK_TIMEOUT_NS       100000000u /* for a peer to release the lock */
#define DEREGISTER_TIMEOUT_NS 5000000u
#define LISTEN_SLOT           SIM_OFI_SHM_MAX_CLIENTS

struct shm_client {
	int fd;           /* -1 = free slot */
	bool is_admitted; /* addr is valid */
	fi_addr_t addr;
};

struct sim_ofi_shm_listener {
	sim_ofi_check_key *check_key;
	void *check_arg;
	struct sim_ofi_endpoint *endpoint; /* NULL = closed */
	struct sockaddr_un addr;
	int listen_fd;
	int epoll_fd;
	int ctrl_fd;
	struct sim_ofi_shm_ctrl *ctrl;
	uint32_t doorbell_seen; /* value at the last service */
	unsigned int rounds;
	bool has_slept;      /* since the last poll of the sockets */
	bool client_crashed; /* with an operation in flight or the lock held */
	struct shm_client clients[SIM_OFI_SHM_MAX_CLIENTS];
};

static int epoll_add(struct sim_ofi_shm_listener *listener, int fd, uint32_t slot)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = slot };

	return epoll_ctl(listener->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int open_socket(struct sim_ofi_shm_listener *listener)
{
	listener->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	listener->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener->epoll_fd < 0 || listener->listen_fd < 0)
		return -errno;
	if (bind(listener->listen_fd, (struct sockaddr *)&listener->addr, sizeof(listener->addr)) < 0 ||
	    listen(listener->listen_fd, SIM_OFI_SHM_MAX_CLIENTS) < 0)
		return -errno;
	return epoll_add(listener, listener->listen_fd, LISTEN_SLOT);
}

int sim_ofi_shm_listener_create(const char *name, sim_ofi_check_key *check_key, void *check_arg,
				struct sim_ofi_shm_listener **ret_listener)
{
	struct sim_ofi_shm_listener *listener = calloc(1, sizeof(*listener));
	int rc;

	if (!listener)
		return -ENOMEM;
	*listener = (struct sim_ofi_shm_listener){
		.check_key = check_key, .check_arg = check_arg, .listen_fd = -1, .epoll_fd = -1, .ctrl_fd = -1
	};
	for (int i = 0; i < SIM_OFI_SHM_MAX_CLIENTS; i++)
		listener->clients[i].fd = -1;
	sim_ofi_shm_listener_addr(name, &listener->addr);
	rc = open_socket(listener);
	if (rc < 0) {
		sim_warn("can't open %s: %s; memory can't be exported over shm", listener->addr.sun_path,
			 strerror(-rc));
		sim_ofi_shm_listener_destroy(listener);
		return rc;
	}
	*ret_listener = listener;
	return 0;
}

void sim_ofi_shm_listener_destroy(struct sim_ofi_shm_listener *listener)
{
	if (!listener)
		return;
	sim_ofi_shm_listener_close(listener);
	if (listener->listen_fd >= 0) {
		close(listener->listen_fd);
		unlink(listener->addr.sun_path);
	}
	if (listener->epoll_fd >= 0)
		close(listener->epoll_fd);
	free(listener);
}

int sim_ofi_shm_listener_open(struct sim_ofi_shm_listener *listener, struct sim_ofi_endpoint *endpoint)
{
	int rc = sim_ofi_shm_ctrl_create(&listener->ctrl_fd, &listener->ctrl);

	if (rc < 0)
		return rc;
	listener->endpoint = endpoint;
	listener->client_crashed = false;
	listener->doorbell_seen = 0;
	return 0;
}

/* Take the lock; a living peer releases it within the timeout. Returns 0, -EBUSY or -EOWNERDEAD. */
static int lock_with_timeout(struct sim_ofi_shm_listener *listener, uint64_t timeout_ns)
{
	int rc = sim_ofi_shm_ctrl_lock(listener->ctrl);

	if (rc == -EBUSY) {
		uint64_t end = sim_monotonic_ns() + timeout_ns;

		while (rc == -EBUSY && sim_monotonic_ns() < end) {
			sched_yield();
			rc = sim_ofi_shm_ctrl_lock(listener->ctrl);
		}
	}
	if (rc == -EOWNERDEAD)
		listener->client_crashed = true;
	return rc;
}

static void reset_client(struct shm_client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	*client = (struct shm_client){ .fd = -1 };
}

void sim_ofi_shm_listener_close(struct sim_ofi_shm_listener *listener)
{
	int rc;

	if (!listener->ctrl)
		return;
	rc = lock_with_timeout(listener, LOCK_TIMEOUT_NS);
	listener->ctrl->closed = 1; /* also without the lock: its holder then finds the region closed */
	if (rc == 0)
		sim_ofi_shm_ctrl_unlock(listener->ctrl);
	for (int i = 0; i < SIM_OFI_SHM_MAX_CLIENTS; i++)
		reset_client(&listener->clients[i]);
	sim_ofi_shm_ctrl_unmap(listener->ctrl);
	close(listener->ctrl_fd);
	listener->ctrl = NULL;
	listener->ctrl_fd = -1;
	listener->endpoint = NULL;
}

int sim_ofi_shm_listener_fd(const struct sim_ofi_shm_listener *listener)
{
	return listener->epoll_fd;
}

static void progress_cq(struct sim_ofi_shm_listener *listener)
{
	struct fi_cq_entry entry;
	struct fi_cq_err_entry error = { 0 };

	/* Remote accesses complete without an entry. Ignore other entries. */
	if (fi_cq_read(listener->endpoint->cq, &entry, 1) == -FI_EAVAIL)
		fi_cq_readerr(listener->endpoint->cq, &error, 0);
}

/* Returns whether a peer had rung the doorbell, or -EOWNERDEAD. */
static int serve_region(struct sim_ofi_shm_listener *listener)
{
	uint32_t doorbell = atomic_load(&listener->ctrl->doorbell);
	int rc;

	if (doorbell == listener->doorbell_seen)
		return 0;
	rc = lock_with_timeout(listener, 0);
	if (rc < 0)
		return rc == -EBUSY ? 0 : rc; /* the holder rings the doorbell after its release */
	progress_cq(listener);
	sim_ofi_shm_ctrl_unlock(listener->ctrl);
	listener->doorbell_seen = doorbell;
	atomic_fetch_add(&listener->ctrl->served, 1);
	return 1;
}

static void send_reply(int to, const struct sim_ofi_msg *msg, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { .iov_base = (void *)msg, .iov_len = sizeof(*msg) };
	struct msghdr hdr = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *cmsg;

		hdr.msg_control = control;
		hdr.msg_controllen = sizeof(control);
		cmsg = CMSG_FIRSTHDR(&hdr);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	}
	/* Sending fails if the peer is gone or does not read its replies. */
	(void)!sendmsg(to, &hdr, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int free_slot(const struct sim_ofi_shm_listener *listener)
{
	for (int slot = 0; slot < SIM_OFI_SHM_MAX_CLIENTS; slot++)
		if (listener->clients[slot].fd < 0)
			return slot;
	return -1;
}

static void accept_client(struct sim_ofi_shm_listener *listener)
{
	const struct sim_ofi_msg full = { .kind = SIM_OFI_MSG_HANDSHAKE, .status = -EUSERS };
	int fd = accept4(listener->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int slot = free_slot(listener);

	if (fd < 0)
		return;
	if (slot >= 0 && epoll_add(listener, fd, (uint32_t)slot) == 0) {
		listener->clients[slot] = (struct shm_client){ .fd = fd };
		return;
	}
	sim_warn("no slot for another process that accesses this process's memory over shm: %d are connected; use tcp",
		 SIM_OFI_SHM_MAX_CLIENTS);
	send_reply(fd, &full, -1);
	close(fd);
}

static void remove_client(struct sim_ofi_shm_listener *listener, uint32_t slot)
{
	struct shm_client *client = &listener->clients[slot];

	if (client->is_admitted) {
		if (lock_with_timeout(listener, LOCK_TIMEOUT_NS) < 0) {
			listener->client_crashed = true;
		} else {
			/* Serve its pending commands first, as its announcement refers to its address. */
			progress_cq(listener);
			if (listener->ctrl->busy[slot])
				listener->client_crashed = true;
			else
				fi_av_remove(listener->endpoint->av, &client->addr, 1, 0);
			listener->ctrl->busy[slot] = 0;
			sim_ofi_shm_ctrl_unlock(listener->ctrl);
		}
	}
	reset_client(client);
}

/* On return the provider knows the peer's region, and the peer may announce itself. */
static int admit_client(struct sim_ofi_shm_listener *listener, struct shm_client *client, const struct sim_ofi_msg *msg)
{
	int rc;

	if (client->is_admitted || !sim_ofi_shm_name_valid(msg->name, sizeof(msg->name)))
		return -EPROTO;
	rc = lock_with_timeout(listener, LOCK_TIMEOUT_NS);
	if (rc < 0)
		return rc;
	if (fi_av_insert(listener->endpoint->av, msg->name, 1, &client->addr, 0, NULL) == 1)
		client->is_admitted = true;
	else
		rc = -EUSERS;
	sim_ofi_shm_ctrl_unlock(listener->ctrl);
	return rc;
}

static void handle_message(struct sim_ofi_shm_listener *listener, uint32_t slot)
{
	struct shm_client *client = &listener->clients[slot];
	struct sim_ofi_msg msg;
	ssize_t got = recv(client->fd, &msg, sizeof(msg), 0);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got != sizeof(msg)) {
		remove_client(listener, slot);
		return;
	}
	switch (msg.kind) {
	case SIM_OFI_MSG_HANDSHAKE:
		msg.status = admit_client(listener, client, &msg);
		msg.slot = slot;
		send_reply(client->fd, &msg, msg.status == 0 ? listener->ctrl_fd : -1);
		break;
	case SIM_OFI_MSG_CHECK_KEY:
		msg.status = listener->check_key(listener->check_arg, msg.key, msg.len, msg.writable);
		msg.dereg_count = listener->ctrl->dereg_count; /* only this thread changes it */
		send_reply(client->fd, &msg, -1);
		break;
	default: /* SIM_OFI_MSG_DOORBELL only wakes us */
		break;
	}
}

static int poll_sockets(struct sim_ofi_shm_listener *listener)
{
	struct epoll_event events[16];
	int n = epoll_wait(listener->epoll_fd, events, 16, 0);

	for (int i = 0; i < n; i++) {
		uint32_t slot = events[i].data.u32;

		if (slot == LISTEN_SLOT)
			accept_client(listener);
		else if (listener->clients[slot].fd >= 0)
			handle_message(listener, slot);
	}
	return n > 0 ? n : 0;
}

int sim_ofi_shm_listener_serve(struct sim_ofi_shm_listener *listener)
{
	int events = 0, rc;

	atomic_store(&listener->ctrl->asleep, 0);
	if (listener->has_slept || ++listener->rounds % ROUNDS_PER_POLL == 0)
		events = poll_sockets(listener);
	listener->has_slept = false;
	if (listener->client_crashed)
		return -EOWNERDEAD;
	rc = serve_region(listener);
	return rc < 0 ? rc : events + rc;
}

bool sim_ofi_shm_listener_may_sleep(struct sim_ofi_shm_listener *listener)
{
	listener->has_slept = true;
	atomic_store(&listener->ctrl->asleep, 1);
	atomic_thread_fence(memory_order_seq_cst);
	if (!listener->client_crashed && serve_region(listener) == 0)
		return true;
	atomic_store(&listener->ctrl->asleep, 0);
	return false;
}

static bool is_any_client_busy(const struct sim_ofi_shm_ctrl *ctrl)
{
	for (int i = 0; i < SIM_OFI_SHM_MAX_CLIENTS; i++)
		if (ctrl->busy[i])
			return true;
	return false;
}

int sim_ofi_shm_listener_deregister(struct sim_ofi_shm_listener *listener, struct fid_mr *mr)
{
	uint64_t end = sim_monotonic_ns() + DEREGISTER_TIMEOUT_NS;

	do {
		if (lock_with_timeout(listener, DEREGISTER_TIMEOUT_NS) < 0)
			return -EBUSY;
		if (!is_any_client_busy(listener->ctrl)) {
			listener->ctrl->dereg_count++; /* peers have their keys checked again */
			fi_close(&mr->fid);
			sim_ofi_shm_ctrl_unlock(listener->ctrl);
			return 0;
		}
		progress_cq(listener);
		sim_ofi_shm_ctrl_unlock(listener->ctrl);
		atomic_fetch_add(&listener->ctrl->served, 1);
		sched_yield();
	} while (sim_monotonic_ns() < end);
	return -EBUSY;
}
