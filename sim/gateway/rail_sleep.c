/* SPDX-License-Identifier: BSD-3-Clause */
/* The sleep of the gateway's thread: until something comes for one of its rails, or until a time. */
#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <sys/epoll.h>
#include <time.h>

#include "pcie_model/arith.h"
#include "rail_priv.h"

#define MAX_EVENTS   64 /* of one sleep */
#define MAX_SLEEP_NS 60000000000u
#define FINE_NS      2000000u /* shorter sleeps end in time: epoll_wait() counts milliseconds */
#define NS_PER_S     1000000000u
#define NS_PER_MS    1000000u

/* Whether a sleep ends when something comes, and nothing is there yet. */
static bool may_wait_for(const struct rail *rail, struct fid *fid)
{
	return fi_trywait(rail->fabric, &fid, 1) == 0;
}

/* Returns 0, or -EAGAIN: there is something. */
static int try_to_wait_for_one(struct rail *rail)
{
	struct rail_conn *conn;

	rail->may_wait = rail->may_wait || !rail->eq || may_wait_for(rail, &rail->eq->fid);
	if (!rail->may_wait)
		return -EAGAIN;
	LIST_FOREACH(conn, &rail->conns, link) {
		conn->may_wait = conn->may_wait || may_wait_for(rail, &conn->eq->fid);
		if (!conn->may_wait || !rail_endpoint_may_sleep(&conn->msg) || !rail_rdm_may_sleep(conn))
			return -EAGAIN;
	}
	return 0;
}

static int try_to_wait(struct rail *rail)
{
	int rc = try_to_wait_for_one(rail);
	struct rail *other;

	SLIST_FOREACH(other, &rail->beside, in_beside)
		if (rc == 0)
			rc = try_to_wait_for_one(other);
	return rc;
}

static uint64_t find_nap_ns(const struct rail *rail)
{
	const struct rail_conn *conn;
	const struct rail *other;
	uint64_t nap_ns = MAX_SLEEP_NS;

	LIST_FOREACH(conn, &rail->conns, link)
		nap_ns = min_u64(nap_ns, rail_rdm_nap_ns(conn));
	SLIST_FOREACH(other, &rail->beside, in_beside)
		nap_ns = min_u64(nap_ns, find_nap_ns(other));
	return nap_ns;
}

/* Returns whether it is rare. */
static bool note_event(const struct rail_source *source, uint32_t *watched)
{
	if (source->number >= 0)
		*watched |= 1u << source->number;
	else if (source->endpoint)
		source->endpoint->is_armed = false;
	return source->number < 0 && !source->endpoint;
}

/* As epoll_wait(), but the time is in ns. */
static int wait_for_events(const struct rail *rail, uint64_t for_ns, struct epoll_event events[MAX_EVENTS])
{
	const struct timespec time = { .tv_sec = (time_t)(for_ns / NS_PER_S), .tv_nsec = (long)(for_ns % NS_PER_S) };
	struct pollfd descriptor = { .fd = rail->epoll_fd, .events = POLLIN };

	return ppoll(&descriptor, 1, &time, NULL) <= 0 ? 0 : epoll_wait(rail->epoll_fd, events, MAX_EVENTS, 0);
}

enum rail_slept rail_sleep(struct rail *rail, uint64_t for_ns, uint32_t *ret_watched)
{
	struct epoll_event events[MAX_EVENTS];
	bool is_rare, is_quiet = true;
	uint64_t nap_ns;
	int count;

	*ret_watched = 0;
	if (try_to_wait(rail) < 0)
		return RAIL_NOT_SLEPT;
	nap_ns = find_nap_ns(rail);
	if (nap_ns < MAX_SLEEP_NS || for_ns < FINE_NS)
		count = wait_for_events(rail, min_u64(for_ns, nap_ns), events);
	else
		count = epoll_wait(rail->epoll_fd, events, MAX_EVENTS,
				   (int)(min_u64(for_ns, MAX_SLEEP_NS) / NS_PER_MS + 1));
	is_rare = count <= 0 && for_ns <= nap_ns;
	for (int i = 0; i < count; i++)
		if (note_event(events[i].data.ptr, ret_watched))
			is_quiet = false;
	is_rare |= !is_quiet;
	rail->is_quiet = is_quiet;
	return is_rare ? RAIL_WOKEN_RARELY : RAIL_WOKEN;
}
