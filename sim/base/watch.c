/* SPDX-License-Identifier: BSD-3-Clause */
/* The only calls of epoll_ctl(). */
#include "watch.h"

#include <errno.h>
#include <unistd.h>

static int control(int epoll_fd, int op, int fd, uint32_t events, epoll_data_t data)
{
	struct epoll_event event = { .events = events, .data = data };

	return epoll_ctl(epoll_fd, op, fd, &event) < 0 ? -errno : 0;
}

int sim_watch_add(int epoll_fd, int fd, uint32_t events, epoll_data_t data)
{
	return control(epoll_fd, EPOLL_CTL_ADD, fd, events, data);
}

int sim_watch_change(int epoll_fd, int fd, uint32_t events, epoll_data_t data)
{
	return control(epoll_fd, EPOLL_CTL_MOD, fd, events, data);
}

void sim_watch_remove(int epoll_fd, int fd)
{
	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

void sim_watch_close(int epoll_fd, int fd)
{
	if (fd < 0)
		return;
	sim_watch_remove(epoll_fd, fd);
	close(fd);
}
