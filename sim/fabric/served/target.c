/* SPDX-License-Identifier: BSD-3-Clause */
/* The exporter: the connections of importers, and serving them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "served_priv.h"
#include "sim/base/log.h"
#include "sim/base/memory_signals.h"
#include "sim/base/watch.h"

#define MAX_EVENTS 32

/* Rounds and requests between two looks at what takes system calls: 20 us of small copies, a ms of large ones. A ring is polled in
 * memory, its socket shows a peer's end only. */
#define STEPS_PER_LOOK 256

struct sim_target {
	int epoll_fd;
	struct served_table table;
	LIST_HEAD(, served_conn) conns;
	uint32_t max_conns, num_conns, num_tcp_conns;
	uint64_t num_opened; /* connections so far */
	unsigned int steps;  /* since the last look at sockets and handlers of signals */
};

int sim_target_create(uint32_t max_conns, struct sim_target **ret_target)
{
	struct sim_target *target = calloc(1, sizeof(*target));
	int rc;

	if (!target)
		return -ENOMEM;
	target->max_conns = max_conns;
	target->steps = STEPS_PER_LOOK;
	LIST_INIT(&target->conns);
	target->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (target->epoll_fd < 0) {
		rc = -errno;
		free(target);
		return rc;
	}
	*ret_target = target;
	return 0;
}

static void conn_free(struct sim_target *target, struct served_conn *conn)
{
	sim_watch_close(target->epoll_fd, conn->sock);
	if (conn->ring_fd >= 0)
		close(conn->ring_fd);
	sim_segment_unmap(&conn->segment);
	free(conn);
}

static void conn_remove(struct sim_target *target, struct served_conn *conn)
{
	LIST_REMOVE(conn, entry);
	target->num_conns--;
	target->num_tcp_conns -= conn->transport == SIM_TRANSPORT_TCP;
	conn_free(target, conn);
}

void sim_target_destroy(struct sim_target *target)
{
	if (!target)
		return;
	while (!LIST_EMPTY(&target->conns))
		conn_remove(target, LIST_FIRST(&target->conns));
	close(target->epoll_fd);
	served_table_fini(&target->table);
	free(target);
}

void sim_target_abandon(struct sim_target *target)
{
	struct served_conn *conn;

	if (!target)
		return;
	LIST_FOREACH(conn, &target->conns, entry) {
		close(conn->sock);
		if (conn->ring_fd >= 0)
			close(conn->ring_fd);
	}
	close(target->epoll_fd);
}

int sim_target_expose(struct sim_target *target, void *addr, size_t len, bool writable, struct sim_grant *ret_grant)
{
	return served_table_add(&target->table, addr, len, writable, ret_grant);
}

int sim_target_expose_far(struct sim_target *target, size_t len, sim_far_begin *begin, void *arg,
			  struct sim_grant *ret_grant)
{
	return served_table_add_far(&target->table, len, begin, arg, ret_grant);
}

void sim_target_complete(struct sim_target *target, uint64_t token, int status, const void *bytes, size_t len)
{
	struct served_conn *conn;

	LIST_FOREACH(conn, &target->conns, entry)
		if (conn->transport == SIM_TRANSPORT_SHM && conn->id == token / SERVED_RING_SLOTS)
			break;
	if (conn)
		served_shm_complete(conn, token % SERVED_RING_SLOTS, status, bytes, len);
}

int sim_target_find_far(const struct sim_target *target, const struct sim_grant *grant, enum sim_served_kind kind,
			uint64_t offset, uint32_t len, void **ret_arg)
{
	const struct served_request request = { .grant = *grant, .offset = offset, .len_bytes = len, .kind = kind };
	sim_far_begin *begin = NULL;
	uint8_t *arg;
	int rc = served_table_check_any(&target->table, &request, &arg, &begin);

	if (rc == 0 && !begin)
		rc = -EACCES;
	if (rc == 0)
		*ret_arg = arg;
	return rc;
}

void sim_target_hide(struct sim_target *target, const struct sim_grant *grant)
{
	served_table_remove(&target->table, grant);
}

/* ---- connections ---- */

static int conn_open(struct served_conn *conn, int *ret_importer_fd)
{
	int fds[2], rc;

	if (conn->transport == SIM_TRANSPORT_SHM)
		return served_shm_open(conn, ret_importer_fd);
	rc = served_tcp_pair(fds);
	if (rc < 0)
		return rc;
	conn->sock = fds[0];
	*ret_importer_fd = fds[1];
	return 0;
}

static int watch(const struct sim_target *target, struct served_conn *conn)
{
	uint32_t events = EPOLLIN | EPOLLET;

	if (conn->transport == SIM_TRANSPORT_TCP)
		events |= EPOLLOUT;
	return sim_watch_add(target->epoll_fd, conn->sock, events, (epoll_data_t){ .ptr = conn });
}

int sim_target_connect(struct sim_target *target, enum sim_transport transport, int *ret_fd)
{
	struct served_conn *conn;
	int fd = -1, rc;

	if (target->num_conns == target->max_conns) {
		sim_warn("no room for another process that accesses this process's memory: %u are connected",
			 target->num_conns);
		return -EUSERS;
	}
	conn = calloc(1, sizeof(*conn));
	if (!conn)
		return -ENOMEM;
	*conn = (struct served_conn){ .transport = transport, .sock = -1, .ring_fd = -1, .id = ++target->num_opened };
	rc = conn_open(conn, &fd);
	if (rc == 0)
		rc = watch(target, conn);
	if (rc < 0) {
		if (fd >= 0)
			close(fd);
		conn_free(target, conn);
		return rc;
	}
	LIST_INSERT_HEAD(&target->conns, conn, entry);
	target->num_conns++;
	target->num_tcp_conns += transport == SIM_TRANSPORT_TCP;
	*ret_fd = fd;
	return 0;
}

int sim_target_fd(const struct sim_target *target)
{
	return target->epoll_fd;
}

/* ---- serving ---- */

/* Mark the connections whose sockets have changed. */
static void poll_sockets(struct sim_target *target)
{
	struct epoll_event events[MAX_EVENTS];
	int count = epoll_wait(target->epoll_fd, events, MAX_EVENTS, 0);

	for (int i = 0; i < count; i++) {
		struct served_conn *conn = events[i].data.ptr;

		conn->is_ready = true;
	}
}

static int serve_conn(const struct sim_target *target, struct served_conn *conn)
{
	return conn->transport == SIM_TRANSPORT_SHM ? served_shm_serve(&target->table, conn) :
						      served_tcp_serve(&target->table, conn);
}

/* The only stream waits for a request: receiving that tells as much as a look at the sockets, and is done anyway if there is one. Returns
 * false if that is not so. */
static bool try_stream(const struct sim_target *target)
{
	struct served_conn *conn = LIST_FIRST(&target->conns);

	while (conn && conn->transport != SIM_TRANSPORT_TCP)
		conn = LIST_NEXT(conn, entry);
	if (!conn || target->num_tcp_conns > 1 || conn->stream.phase != STREAM_REQUEST)
		return false;
	conn->is_ready = true;
	return true;
}

static void look(struct sim_target *target)
{
	bool is_due = target->steps >= STEPS_PER_LOOK;

	if (is_due) {
		target->steps = 0;
		sim_memory_signals_install(); /* the program may have installed handlers of its own */
	}
	if (is_due || (target->num_tcp_conns > 0 && !try_stream(target)))
		poll_sockets(target);
}

unsigned int sim_target_serve(struct sim_target *target)
{
	struct served_conn *conn, *next;
	unsigned int served = 0;

	look(target);
	for (conn = LIST_FIRST(&target->conns); conn; conn = next) {
		int rc = serve_conn(target, conn);

		next = LIST_NEXT(conn, entry);
		if (rc < 0)
			conn_remove(target, conn);
		else
			served += (unsigned int)rc;
	}
	target->steps += 1 + served;
	return served;
}

bool sim_target_arm(const struct sim_target *target)
{
	const struct served_conn *conn;

	LIST_FOREACH(conn, &target->conns, entry)
		if (conn->is_ready || (conn->transport == SIM_TRANSPORT_SHM && !served_shm_may_sleep(conn)))
			return false;
	return true;
}

bool sim_target_has_buffers(const struct sim_target *target)
{
	const struct served_conn *conn;

	LIST_FOREACH(conn, &target->conns, entry)
		if (conn->has_buffers)
			return true;
	return false;
}

void sim_target_trim(struct sim_target *target)
{
	struct served_conn *conn;

	LIST_FOREACH(conn, &target->conns, entry)
		served_shm_trim(conn);
}

bool sim_target_may_sleep(struct sim_target *target)
{
	poll_sockets(target);
	target->steps = STEPS_PER_LOOK; /* the first round after the sleep looks */
	return sim_target_arm(target);
}
