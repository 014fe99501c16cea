/* SPDX-License-Identifier: BSD-3-Clause */
/* The notification handle of a progress engine: an epoll descriptor that watches the engine's own eventfd, and a socket to
 * which other processes write (sim/shm/wake.h). */
#include "pe_wake.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "sim/base/watch.h"

static int watch(const struct shim_pe_wake *wake, int fd)
{
	return sim_watch_add(wake->handle_fd, fd, EPOLLIN, (epoll_data_t){ .fd = fd });
}

int shim_pe_wake_open(struct shim_pe_wake *wake)
{
	int rc;

	wake->peers = SIM_WAKE_NONE;
	wake->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	wake->handle_fd = epoll_create1(EPOLL_CLOEXEC);
	rc = wake->event_fd < 0 || wake->handle_fd < 0 ? -errno : watch(wake, wake->event_fd);
	if (rc < 0)
		shim_pe_wake_close(wake);
	return rc;
}

void shim_pe_wake_close(struct shim_pe_wake *wake)
{
	sim_wake_close(&wake->peers);
	if (wake->event_fd >= 0)
		close(wake->event_fd);
	if (wake->handle_fd >= 0)
		close(wake->handle_fd);
}

static int open_peers(struct shim_pe_wake *wake)
{
	struct sim_wake peers;
	int rc = sim_wake_open(&peers);

	if (rc < 0)
		return rc;
	rc = watch(wake, peers.recv_fd);
	if (rc < 0)
		sim_wake_close(&peers);
	else
		wake->peers = peers;
	return rc;
}

int shim_pe_wake_get_peer_fd(struct shim_pe_wake *wake)
{
	int rc = wake->peers.send_fd < 0 ? open_peers(wake) : 0;

	return rc < 0 ? rc : wake->peers.send_fd;
}

/* The connections that know the old socket wake the engine through the session from now on; new ones get another. */
static void forget_peers(struct shim_pe_wake *wake)
{
	sim_watch_remove(wake->handle_fd, wake->peers.recv_fd); /* a forked child may hold it open */
	sim_wake_close(&wake->peers);
}

void shim_pe_wake_signal(const struct shim_pe_wake *wake)
{
	eventfd_write(wake->event_fd, 1);
}

int shim_pe_wake_clear(struct shim_pe_wake *wake)
{
	struct epoll_event events[8]; /* a queue of the work-queue generation watches handles of other engines, too */
	int count = epoll_wait(wake->handle_fd, events, 8, 0);
	eventfd_t unused;

	for (int i = 0; i < count; i++) {
		if (events[i].data.fd == wake->event_fd)
			eventfd_read(wake->event_fd, &unused);
		else if (events[i].data.fd == wake->peers.recv_fd && !sim_wake_clear(&wake->peers))
			forget_peers(wake);
	}
	return count < 0 ? -errno : 0;
}
