/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/faults/net_rig.h - two connected RDMA contexts of one program, and rules for the links between them. */
#ifndef TESTS_FAULTS_NET_RIG_H
#define TESTS_FAULTS_NET_RIG_H

#include <bfsim.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "tests/api/rdma_util.h"

#define MS UINT64_C(1000000)

#define DEADLINE_NS UINT64_C(60000000000)

struct rig {
	struct peer *a, *b;
};

static inline bool is_virtual(void)
{
	return strcmp(getenv("BFSIM_CLOCK"), "virtual") == 0;
}

static inline uint32_t add_rule(const char *rule)
{
	uint32_t id;

	if (bfsim_fault_add(rule, &id) != 0)
		fail_msg("%s: %s", rule, bfsim_error());
	return id;
}

/* @a on the first function, @b on number @device_b. */
static inline struct rig open_rig(uint32_t device_b)
{
	struct rig rig = { peer_open(0, RDMA_ALL_ACCESS), peer_open(device_b, RDMA_ALL_ACCESS) };

	assert_int_equal(bfsim_fault_clear(), 0); /* of a test that failed */
	peer_start(rig.a);
	peer_start(rig.b);
	peers_connect(rig.a, rig.b);
	return rig;
}

/* The card's events are run by a thread, in virtual time now and then. */
static inline void await_fired(void)
{
	while (bfsim_fault_unfired(NULL) > 0)
		sched_yield();
}

static inline void close_rig(struct rig *rig)
{
	peer_close(rig->a);
	peer_close(rig->b);
	await_fired();
	assert_int_equal(bfsim_fault_clear(), 0);
}

static inline void progress(struct rig *rig)
{
	peers_progress(rig->a, rig->b);
}

/* Progress both until the peer's trace has the text. */
static inline void progress_to(struct rig *rig, const struct peer *peer, const char *text)
{
	uint64_t begin_ns = bfsim_now_ns();

	while (!strstr(peer->trace, text)) {
		if (bfsim_now_ns() - begin_ns > DEADLINE_NS)
			fail_msg("no \"%s\" in \"%s\"", text, peer->trace);
		progress(rig);
	}
}

/* Begin to write 64 bytes from a peer to the other one. */
static inline void begin_write(struct peer *from, struct peer *to, int number)
{
	peer_write(from, number, peer_buf(from, 0, 64, 64), peer_remote_buf(from, to, 0, 64, 0));
}

#endif
