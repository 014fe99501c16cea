/* SPDX-License-Identifier: BSD-3-Clause */
/* The notification handle of a progress engine: an epoll descriptor that watches the engine's own eventfd, and a socket to
 * which other processes write (sim/shm/wake.h). */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "pe_priv.h"
#include "sim/base/watch.h"

static int watch(const struct doca_pe *pe, int fd)
{
	return sim_watch_add(pe->handle_fd, fd, EPOLLIN, (epoll_data_t){ .fd = fd });
}

int shim_pe_wake_open(struct doca_pe *pe)
{
	int rc;

	pe->peers = SIM_WAKE_NONE;
	pe->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pe->handle_fd = epoll_create1(EPOLL_CLOEXEC);
	rc = pe->event_fd < 0 || pe->handle_fd < 0 ? -errno : watch(pe, pe->event_fd);
	if (rc < 0)
		shim_pe_wake_close(pe);
	return rc;
}

void shim_pe_wake_close(struct doca_pe *pe)
{
	sim_wake_close(&pe->peers);
	if (pe->event_fd >= 0)
		close(pe->event_fd);
	if (pe->handle_fd >= 0)
		close(pe->handle_fd);
}

static int open_peers(struct doca_pe *pe)
{
	struct sim_wake wake;
	int rc = sim_wake_open(&wake);

	if (rc < 0)
		return rc;
	rc = watch(pe, wake.recv_fd);
	if (rc < 0)
		sim_wake_close(&wake);
	else
		pe->peers = wake;
	return rc;
}

int shim_pe_peer_wake_fd(const struct doca_ctx *ctx)
{
	struct doca_pe *pe = ctx->pe;
	int rc = pe->peers.send_fd < 0 ? open_peers(pe) : 0;

	return rc < 0 ? rc : pe->peers.send_fd;
}

/* The connections that know the old socket wake the engine through the session from now on; new ones get another. */
static void forget_peers(struct doca_pe *pe)
{
	sim_watch_remove(pe->handle_fd, pe->peers.recv_fd); /* a forked child may hold it open */
	sim_wake_close(&pe->peers);
}

void shim_pe_wake(const struct doca_pe *pe)
{
	eventfd_write(pe->event_fd, 1);
}

int shim_pe_wake_clear(struct doca_pe *pe)
{
	struct epoll_event events[2];
	int count = epoll_wait(pe->handle_fd, events, 2, 0);
	eventfd_t unused;

	for (int i = 0; i < count; i++) {
		if (events[i].data.fd == pe->event_fd)
			eventfd_read(pe->event_fd, &unused);
		else if (!sim_wake_clear(&pe->peers))
			forget_peers(pe);
	}
	return count < 0 ? -errno : 0;
}
