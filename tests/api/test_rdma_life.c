/* SPDX-License-Identifier: BSD-3-Clause */
/* What tasks of RDMA use lives as long as they do: sync events, memory maps, connections. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "rdma_util.h"

/* Peer a is connected to b, and b not yet to a: a's requests wait. */
struct pair {
	struct peer *a, *b;
	const void *details_of_a;
	size_t len;
};

static int open_pair(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	const void *details;
	size_t len;

	pair->a = peer_open(0, RDMA_ALL_ACCESS);
	pair->b = peer_open(0, RDMA_ALL_ACCESS);
	peer_start(pair->a);
	peer_start(pair->b);
	MUST(doca_rdma_export(pair->a->rdma, &pair->details_of_a, &pair->len, &pair->a->connections[0]));
	MUST(doca_rdma_export(pair->b->rdma, &details, &len, &pair->b->connections[0]));
	MUST(doca_rdma_connect(pair->a->rdma, details, len, pair->a->connections[0]));
	peers_import(pair->a, pair->b);
	*state = pair;
	return 0;
}

static int close_pair(void **state)
{
	struct pair *pair = *state;

	peer_close(pair->a);
	peer_close(pair->b);
	free(pair);
	return 0;
}

/* From now on a's requests are executed. */
static void connect_b(struct pair *pair)
{
	MUST(doca_rdma_connect(pair->b->rdma, pair->details_of_a, pair->len, pair->b->connections[0]));
}

/* ---- sync events ---- */

static void test_event_of_a_task_in_flight_is_not_destroyed(void **state)
{
	struct pair *pair = *state;

	peer_share_event(pair->b, pair->a);
	peer_event_set(pair->a, 1, peer_buf(pair->a, 0, 8, 8));
	peer_event_add(pair->a, 2, peer_buf(pair->a, 8, 8, 0), 1);
	assert_result(doca_sync_event_remote_net_destroy(pair->a->events[0]), DOCA_ERROR_IN_USE);
	connect_b(pair);
	peers_drain(pair->a, pair->b, 0);
	assert_peer_trace(pair->a, "event_set 1 done\nevent_add 2 done\n");
	MUST(doca_sync_event_remote_net_destroy(pair->a->events[0]));
	pair->a->events[0] = NULL;
}

/* A stop ends the task, and with it the use. */
static void test_event_of_a_flushed_task_is_destroyed(void **state)
{
	struct pair *pair = *state;

	peer_share_event(pair->b, pair->a);
	peer_event_get(pair->a, 1, peer_buf(pair->a, 0, 8, 0));
	peer_stop(pair->a);
	assert_peer_trace(pair->a, "event_get 1 failed: DOCA_ERROR_IO_FAILED\n");
	MUST(doca_sync_event_remote_net_destroy(pair->a->events[0]));
	pair->a->events[0] = NULL;
}

#define WITH_PAIR(test) cmocka_unit_test_setup_teardown(test, open_pair, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PAIR(test_event_of_a_task_in_flight_is_not_destroyed),
		WITH_PAIR(test_event_of_a_flushed_task_is_destroyed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
