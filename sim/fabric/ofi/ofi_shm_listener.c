/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ofi_priv.h"
#include "sim/base/log.h"

#define ROUNDS_PER_LOOK 32       /* at the door, while awake: a look costs a system call */
#define PATIENCE_NS 100000000u   /* with a peer that holds the lock */
#define HIDE_PATIENCE_NS 5000000u
#define LISTENER SIM_OFI_DOOR_SLOTS

struct guest {
	int fd;                  /* -1 = free slot */
	bool inside;             /* introduced: addr is valid */
	fi_addr_t addr;
};

struct sim_ofi_porter {
	struct sim_ofi_target *target;
	struct sim_ofi_endpoint *endpoint; /* NULL = closed */
	struct sockaddr_un addr;
	int listen_fd;
	int epoll_fd;
	int room_fd;
	struct sim_ofi_room *room;
	uint32_t beats;          /* seen so far */
	unsigned int rounds;
	bool slept;              /* since the last look at the door */
	bool left_badly;         /* a peer, with its operation under way or the lock held */
	struct guest guests[SIM_OFI_DOOR_SLOTS];
};

static int watch(struct sim_ofi_porter *porter, int fd, uint32_t slot)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = slot};

	return epoll_ctl(porter->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int open_door(struct sim_ofi_porter *porter)
{
	porter->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	porter->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (porter->epoll_fd < 0 || porter->listen_fd < 0)
		return -errno;
	if (bind(porter->listen_fd, (struct sockaddr *)&porter->addr, sizeof(porter->addr)) < 0 ||
	    listen(porter->listen_fd, SIM_OFI_DOOR_SLOTS) < 0)
		return -errno;
	return watch(porter, porter->listen_fd, LISTENER);
}

int sim_ofi_porter_create(const char *name, struct sim_ofi_target *target, struct sim_ofi_porter **ret_porter)
{
	struct sim_ofi_porter *porter = calloc(1, sizeof(*porter));
	int rc;

	if (!porter)
		return -ENOMEM;
	*porter = (struct sim_ofi_porter){.target = target, .listen_fd = -1, .epoll_fd = -1, .room_fd = -1};
	for (int i = 0; i < SIM_OFI_DOOR_SLOTS; i++)
		porter->guests[i].fd = -1;
	sim_ofi_door_addr(name, &porter->addr);
	rc = open_door(porter);
	if (rc < 0) {
		sim_warn("can't open %s: %s; memory can't be exported over shm", porter->addr.sun_path, strerror(-rc));
		sim_ofi_porter_destroy(porter);
		return rc;
	}
	*ret_porter = porter;
	return 0;
}

void sim_ofi_porter_destroy(struct sim_ofi_porter *porter)
{
	if (!porter)
		return;
	sim_ofi_porter_close(porter);
	if (porter->listen_fd >= 0) {
		close(porter->listen_fd);
		unlink(porter->addr.sun_path);
	}
	if (porter->epoll_fd >= 0)
		close(porter->epoll_fd);
	free(porter);
}

int sim_ofi_porter_open(struct sim_ofi_porter *porter, struct sim_ofi_endpoint *endpoint)
{
	int rc = sim_ofi_room_create(&porter->room_fd, &porter->room);

	if (rc < 0)
		return rc;
	porter->endpoint = endpoint;
	porter->left_badly = false;
	porter->beats = 0;
	return 0;
}

/* The lock, within a time in which any living peer lets go of it. Returns 0, -EBUSY or -EOWNERDEAD. */
static int lock_within(struct sim_ofi_porter *porter, uint64_t patience_ns)
{
	int rc = sim_ofi_room_lock(porter->room);

	if (rc == -EBUSY) {
		uint64_t end = sim_ofi_now_ns() + patience_ns;

		while (rc == -EBUSY && sim_ofi_now_ns() < end) {
			sched_yield();
			rc = sim_ofi_room_lock(porter->room);
		}
	}
	if (rc == -EOWNERDEAD)
		porter->left_badly = true;
	return rc;
}

static void forget(struct guest *guest)
{
	if (guest->fd >= 0)
		close(guest->fd);
	*guest = (struct guest){.fd = -1};
}

void sim_ofi_porter_close(struct sim_ofi_porter *porter)
{
	int rc;

	if (!porter->room)
		return;
	rc = lock_within(porter, PATIENCE_NS);
	porter->room->closed = 1; /* whoever could not be waited for finds its door closed */
	if (rc == 0)
		sim_ofi_room_unlock(porter->room);
	for (int i = 0; i < SIM_OFI_DOOR_SLOTS; i++)
		forget(&porter->guests[i]);
	sim_ofi_room_unmap(porter->room);
	close(porter->room_fd);
	porter->room = NULL;
	porter->room_fd = -1;
	porter->endpoint = NULL;
}

int sim_ofi_porter_fd(const struct sim_ofi_porter *porter)
{
	return porter->epoll_fd;
}

static void run_provider(struct sim_ofi_porter *porter)
{
	struct fi_cq_entry entry;
	struct fi_cq_err_entry error = {0};

	/* Remote accesses complete here without an entry; whatever comes is not for us. */
	if (fi_cq_read(porter->endpoint->cq, &entry, 1) == -FI_EAVAIL)
		fi_cq_readerr(porter->endpoint->cq, &error, 0);
}

/* Returns whether a peer had done something, or -EOWNERDEAD. */
static int serve_region(struct sim_ofi_porter *porter)
{
	uint32_t beats = atomic_load(&porter->room->beats);
	int rc;

	if (beats == porter->beats)
		return 0;
	rc = lock_within(porter, 0);
	if (rc < 0)
		return rc == -EBUSY ? 0 : rc; /* who has it counts a beat when it lets go */
	run_provider(porter);
	sim_ofi_room_unlock(porter->room);
	porter->beats = beats;
	atomic_fetch_add(&porter->room->served, 1);
	return 1;
}

static void answer(int to, const struct sim_ofi_msg *msg, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {.iov_base = (void *)msg, .iov_len = sizeof(*msg)};
	struct msghdr hdr = {.msg_iov = &iov, .msg_iovlen = 1};

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
	/* A peer that can't take it is gone or asks faster than it listens: it will notice. */
	(void)!sendmsg(to, &hdr, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int free_slot(const struct sim_ofi_porter *porter)
{
	for (int slot = 0; slot < SIM_OFI_DOOR_SLOTS; slot++)
		if (porter->guests[slot].fd < 0)
			return slot;
	return -1;
}

static void come_in(struct sim_ofi_porter *porter)
{
	const struct sim_ofi_msg full = {.kind = SIM_OFI_MSG_HELLO, .status = -EUSERS};
	int fd = accept4(porter->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int slot = free_slot(porter);

	if (fd < 0)
		return;
	if (slot >= 0 && watch(porter, fd, (uint32_t)slot) == 0) {
		porter->guests[slot] = (struct guest){.fd = fd};
		return;
	}
	sim_warn("no room for one more process that accesses this one's memory over shm: %d are at it, use tcp",
		 SIM_OFI_DOOR_SLOTS);
	answer(fd, &full, -1);
	close(fd);
}

static void leave(struct sim_ofi_porter *porter, uint32_t slot)
{
	struct guest *guest = &porter->guests[slot];

	if (guest->inside) {
		if (lock_within(porter, PATIENCE_NS) < 0) {
			porter->left_badly = true;
		} else {
			/* What it still asked for, its announcement included, comes first: it refers to it. */
			run_provider(porter);
			if (porter->room->busy[slot])
				porter->left_badly = true;
			else
				fi_av_remove(porter->endpoint->av, &guest->addr, 1, 0);
			porter->room->busy[slot] = 0;
			sim_ofi_room_unlock(porter->room);
		}
	}
	forget(guest);
}

/* From here on the provider knows the peer's region, and it may announce itself. */
static int introduce(struct sim_ofi_porter *porter, struct guest *guest, const struct sim_ofi_msg *msg)
{
	int rc;

	if (guest->inside || !sim_ofi_shm_name_valid(msg->name, sizeof(msg->name)))
		return -EPROTO;
	rc = lock_within(porter, PATIENCE_NS);
	if (rc < 0)
		return rc;
	if (fi_av_insert(porter->endpoint->av, msg->name, 1, &guest->addr, 0, NULL) == 1)
		guest->inside = true;
	else
		rc = -EUSERS;
	sim_ofi_room_unlock(porter->room);
	return rc;
}

static void attend(struct sim_ofi_porter *porter, uint32_t slot)
{
	struct guest *guest = &porter->guests[slot];
	struct sim_ofi_msg msg;
	ssize_t got = recv(guest->fd, &msg, sizeof(msg), 0);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got != sizeof(msg)) {
		leave(porter, slot);
		return;
	}
	switch (msg.kind) {
	case SIM_OFI_MSG_HELLO:
		msg.status = introduce(porter, guest, &msg);
		msg.slot = slot;
		answer(guest->fd, &msg, msg.status == 0 ? porter->room_fd : -1);
		break;
	case SIM_OFI_MSG_CHECK:
		msg.status = sim_ofi_target_check(porter->target, msg.key, msg.len, msg.writable);
		msg.hides = porter->room->hides; /* only this thread changes it */
		answer(guest->fd, &msg, -1);
		break;
	default: /* a ring woke us: that is all it is for */
		break;
	}
}

static int look_at_door(struct sim_ofi_porter *porter)
{
	struct epoll_event events[16];
	int n = epoll_wait(porter->epoll_fd, events, 16, 0);

	for (int i = 0; i < n; i++) {
		uint32_t slot = events[i].data.u32;

		if (slot == LISTENER)
			come_in(porter);
		else if (porter->guests[slot].fd >= 0)
			attend(porter, slot);
	}
	return n > 0 ? n : 0;
}

int sim_ofi_porter_serve(struct sim_ofi_porter *porter)
{
	int events = 0, rc;

	atomic_store(&porter->room->asleep, 0);
	if (porter->slept || ++porter->rounds % ROUNDS_PER_LOOK == 0)
		events = look_at_door(porter);
	porter->slept = false;
	if (porter->left_badly)
		return -EOWNERDEAD;
	rc = serve_region(porter);
	return rc < 0 ? rc : events + rc;
}

bool sim_ofi_porter_may_sleep(struct sim_ofi_porter *porter)
{
	porter->slept = true;
	atomic_store(&porter->room->asleep, 1);
	atomic_thread_fence(memory_order_seq_cst);
	if (!porter->left_badly && serve_region(porter) == 0)
		return true;
	atomic_store(&porter->room->asleep, 0);
	return false;
}

static bool anyone_busy(const struct sim_ofi_room *room)
{
	for (int i = 0; i < SIM_OFI_DOOR_SLOTS; i++)
		if (room->busy[i])
			return true;
	return false;
}

int sim_ofi_porter_hide(struct sim_ofi_porter *porter, struct fid_mr *mr)
{
	uint64_t end = sim_ofi_now_ns() + HIDE_PATIENCE_NS;

	do {
		if (lock_within(porter, HIDE_PATIENCE_NS) < 0)
			return -EBUSY;
		if (!anyone_busy(porter->room)) {
			porter->room->hides++; /* peers ask again before they use any key */
			fi_close(&mr->fid);
			sim_ofi_room_unlock(porter->room);
			return 0;
		}
		run_provider(porter);
		sim_ofi_room_unlock(porter->room);
		atomic_fetch_add(&porter->room->served, 1);
		sched_yield();
	} while (sim_ofi_now_ns() < end);
	return -EBUSY;
}
