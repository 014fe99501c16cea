/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptors that end a rail's sleep. */
#include <errno.h>
#include <rdma/fabric.h>
#include <rdma/fi_eq.h>

#include "rail_priv.h"
#include "sim/base/watch.h"

static int add_source(struct rail *rail, int fd, struct rail_source *source, const struct rail_source *value)
{
	*source = *value;
	return sim_watch_add(rail->epoll_fd, fd, EPOLLIN, (epoll_data_t){ .ptr = source });
}

int rail_watch(struct rail *rail, int fd, uint32_t number)
{
	return add_source(rail, fd, &rail->watched[number], &(struct rail_source){ .number = (int)number });
}

int rail_add_source(struct rail *rail, struct fid *fid, struct rail_source *source, struct rail_endpoint *endpoint)
{
	int fd;

	if (fi_control(fid, FI_GETWAIT, &fd) < 0)
		return -ENOSYS;
	return add_source(rail, fd, source, &(struct rail_source){ .endpoint = endpoint, .number = -1 });
}

int rail_open_eq(struct rail *rail, struct fid_eq **ret_eq, struct rail_source *source)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_FD, .size = 64 };
	int rc = rail_errno(fi_eq_open(rail->fabric, &attr, ret_eq, NULL));

	return rc == 0 ? rail_add_source(rail, &(*ret_eq)->fid, source, NULL) : rc;
}

void rail_close_queue(const struct rail *rail, struct fid *fid)
{
	int fd;

	if (!fid)
		return;
	if (fi_control(fid, FI_GETWAIT, &fd) == 0)
		sim_watch_remove(rail->epoll_fd, fd);
	fi_close(fid);
}
