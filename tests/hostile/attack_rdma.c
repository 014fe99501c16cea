/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA: kills, a hostile peer that writes anything into the inboxes and doorbells that it shares, or forges records, answers and
 * states, changed descriptors, a peer that posts no receives; and, without an attack, the order of writes and messages and the sum of
 * atomic operations. */
#include "cmocka_test.h"
#include "harm.h"
#include "hostile.h"
#include "roles_rdma.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doca_dev.h>

#include "doca_check.h"
#include "pcie_model/arith.h"
#include "proc.h"
#include "sim/rdma/inbox.h"

#define KILL_WITHIN_MS 120
#define EXCHANGE_MS    20
#define HARM_MS        120   /* to a requester */
#define HARM_END_MS    30000 /* to a target: the round kills the hostile requester earlier */
#define NUM_ADDERS     4
#define NUM_MESSAGES   500 /* of each of them: 500 rounds make a million */
#define NUM_CHANGES    200

/* ---- honest programs ---- */

static int run_target(struct bout *bout, int sock, const struct rdma_target_cfg *cfg)
{
	int result;

	rdma_target_open(bout, cfg, sock);
	result = rdma_target_run();
	rdma_close();
	return result;
}

static int run_requester(int sock, const struct rdma_requester_cfg *cfg)
{
	int result;

	rdma_requester_open(cfg, sock);
	result = rdma_requester_run();
	rdma_close();
	return result;
}

static int target_of_one(struct bout *bout, int sock)
{
	return run_target(bout, sock, &(struct rdma_target_cfg){ .num_requesters = 1 });
}

static int requester(struct bout *bout, int sock)
{
	return run_requester(sock, &(struct rdma_requester_cfg){ 0 });
}

/* ---- kills ---- */

static void kill_rdma(struct bout *bout)
{
	struct party *choice[3];
	int socks[2];

	bout_session(bout);
	bout_pair(socks);
	choice[0] = bout_start(bout, "target", "host", target_of_one, socks[0]);
	choice[1] = bout_start(bout, "requester", "dpu", requester, socks[1]);
	choice[2] = bout->daemon;
	close(socks[0]);
	close(socks[1]);
	bout_kill_within(bout, choice[bout_random(bout, 5) / 2], KILL_WITHIN_MS);
}

const struct attack attack_kill_rdma = { "kill-rdma", attack_all_paths, 250, 1, kill_rdma };

/* ---- a hostile peer ---- */

static uint64_t near(struct bout *bout, uint64_t value)
{
	return bout_random(bout, 8) ? value + bout_random(bout, 3) - 1 : bout_random(bout, UINT64_MAX);
}

/* A record as the ring takes it. The head's fields are right, or nearly. */
static void forge_record(struct bout *bout, struct sim_ring *ring)
{
	uint8_t bytes[SIM_INBOX_RECORD_BYTES + sizeof(struct sim_inbox_head)] = { 0 };
	size_t data = bout_random(bout, 2) ? bout_random(bout, 64) : bout_random(bout, SIM_INBOX_RECORD_BYTES + 1);
	size_t head = bout_random(bout, 4) ? sizeof(struct sim_inbox_head) : bout_random(bout, 64);
	struct sim_inbox_head forged = { .number = near(bout, ring->count + 1),
					 .bytes = near(bout, data),
					 .has_immediate = (uint32_t)bout_random(bout, 3) };

	memcpy(bytes, &forged, sizeof(forged));
	if (sim_ring_write(ring, (uint32_t)bout_random(bout, 5), bytes, min_size(head + data, sizeof(bytes))) ==
	    -EAGAIN)
		sim_ring_arm_space(ring, sizeof(bytes));
}

static void forge_answer(struct bout *bout, struct sim_inbox_shared *inbox)
{
	switch (bout_random(bout, 5)) {
	case 0:
		atomic_store(&inbox->executed, near(bout, atomic_load(&inbox->executed)));
		break;
	case 1:
		atomic_store(&inbox->not_ready, near(bout, atomic_load(&inbox->executed) + 1));
		break;
	case 2:
		atomic_store(&inbox->state, (uint32_t)bout_random(bout, 5));
		break;
	case 3:
		atomic_store(&inbox->failure, (uint32_t)near(bout, 5));
		break;
	default:
		atomic_store(&inbox->claim, near(bout, atomic_load(&inbox->claim)));
	}
}

static bool is_inbox(const struct harm_area *area)
{
	return area->num_words * sizeof(uint64_t) == SIM_INBOX_BYTES;
}

static void forge_for(struct bout *bout, const struct harm_area *areas, unsigned int num_areas, unsigned int ms)
{
	struct sim_ring_cfg cfg = sim_inbox_ring_cfg();
	struct sim_ring rings[HARM_AREAS];
	int64_t end = proc_now_ms() + ms;

	for (unsigned int i = 0; i < num_areas; i++)
		if (is_inbox(&areas[i]))
			sim_ring_init(&rings[i], &cfg, ((struct sim_inbox_shared *)(void *)areas[i].words)->ring);
	while (proc_now_ms() < end) {
		unsigned int i = (unsigned int)bout_random(bout, num_areas);

		if (!is_inbox(&areas[i]))
			sim_doorbell_ring((void *)areas[i].words, (uint32_t)bout_random(bout, 4));
		else if (bout_random(bout, 2))
			forge_record(bout, &rings[i]);
		else
			forge_answer(bout, (void *)areas[i].words);
		__atomic_fetch_add(&bout->tally->tried, 1, __ATOMIC_RELAXED);
	}
}

/* Forged records follow those that were written before only if there were none. */
static void harm_peer(struct bout *bout, const struct harm_area *own, unsigned int num_own, unsigned int ms)
{
	struct harm_area shared[HARM_AREAS];
	unsigned int num_shared = harm_list_areas(shared, own, num_own);

	if (num_shared == 0)
		_exit(ROLE_REFUSED);
	(bout->round % 2 ? forge_for : harm_for)(bout, shared, num_shared, ms);
	_exit(ROLE_DONE);
}

/* The areas that are no RDMA memory: those before the first connection. */
static unsigned int list_own(struct harm_area areas[HARM_AREAS])
{
	struct doca_devinfo **list;
	uint32_t count;

	MUST(doca_devinfo_create_list(&list, &count)); /* attaches */
	MUST(doca_devinfo_destroy_list(list));
	return harm_list_areas(areas, NULL, 0);
}

static int hostile_requester(struct bout *bout, int sock)
{
	struct harm_area own[HARM_AREAS];
	unsigned int num_own = list_own(own);

	rdma_requester_open(&(struct rdma_requester_cfg){ .ms = EXCHANGE_MS, .is_unchecked = true }, sock);
	if (bout->round % 4 != 1)
		rdma_requester_run();
	harm_peer(bout, own, num_own, HARM_END_MS);
	return ROLE_DONE;
}

static int hostile_target(struct bout *bout, int sock)
{
	const struct rdma_target_cfg cfg = { .num_requesters = 1, .ms = EXCHANGE_MS };
	struct harm_area own[HARM_AREAS];
	unsigned int num_own = list_own(own);

	rdma_target_open(bout, &cfg, sock);
	if (bout->round % 4 != 1)
		rdma_target_run();
	harm_peer(bout, own, num_own, HARM_MS);
	return ROLE_DONE;
}

static int target_of_two(struct bout *bout, int sock)
{
	return run_target(bout, sock, &(struct rdma_target_cfg){ .num_requesters = 2 });
}

static int attacked_requester(struct bout *bout, int sock)
{
	return run_requester(sock, &(struct rdma_requester_cfg){ .ms = 2 * HARM_MS, .is_unchecked = true });
}

/* The honest requester comes while the hostile one writes. */
static void harm_target(struct bout *bout)
{
	struct party *hostile, *honest;
	int socks[2];

	bout_pair(socks);
	bout_start(bout, "target", "host", target_of_two, socks[0]);
	close(socks[0]);
	hostile = bout_start(bout, "hostile requester", "dpu", hostile_requester, socks[1]);
	bout_pause(bout, 2 * EXCHANGE_MS);
	honest = bout_start(bout, "honest requester", "dpu", requester, socks[1]);
	close(socks[1]);
	if (bout_wait(bout, honest) && honest->status != 0)
		bout_defect(bout, &bout->tally->wrong, "was not served", "honest requester");
	hostile->is_victim = true;
	kill(hostile->pid, SIGKILL);
}

static void harm_requester(struct bout *bout)
{
	int socks[2];

	bout_pair(socks);
	bout_start(bout, "hostile target", "host", hostile_target, socks[0]);
	bout_start(bout, "requester", "dpu", attacked_requester, socks[1]);
	close(socks[0]);
	close(socks[1]);
}

static void harm_rdma(struct bout *bout)
{
	setenv("BFSIM_PATH", "", 1);
	bout_session(bout);
	if (strcmp(bout->path, "target") == 0)
		harm_target(bout);
	else
		harm_requester(bout);
}

static const char *const rdma_victims[] = { "target", "requester", NULL };

const struct attack attack_rdma = { "rdma", rdma_victims, 150, 4, harm_rdma };

/* ---- changed descriptors ---- */

static int connect_changed(struct bout *bout, int sock)
{
	return rdma_connect_changed(bout, sock, NUM_CHANGES);
}

static void change_descriptors(struct bout *bout)
{
	int socks[2];

	bout_session(bout);
	bout_pair(socks);
	bout_start(bout, "target", "host", target_of_one, socks[0]);
	bout_start(bout, "requester", "dpu", connect_changed, socks[1]);
	close(socks[0]);
	close(socks[1]);
}

const struct attack attack_rdma_descriptor = { "rdma-descr", attack_no_path, 50, 1, change_descriptors };

/* ---- a peer that never posts ---- */

static int target_without_receives(struct bout *bout, int sock)
{
	return run_target(bout, sock, &(struct rdma_target_cfg){ .num_requesters = 1, .posts_none = true });
}

/* The requester gives its message up, and ends. */
static void post_none(struct bout *bout)
{
	struct party *party;
	int socks[2];

	bout_session(bout);
	bout_pair(socks);
	bout_start(bout, "target", "host", target_without_receives, socks[0]);
	party = bout_start(bout, "requester", "dpu", requester, socks[1]);
	close(socks[0]);
	close(socks[1]);
	if (bout_wait(bout, party) && party->status != ROLE_REFUSED << 8)
		bout_defect(bout, &bout->tally->wrong, "was served", "requester");
	bout->tally->tried++;
}

const struct attack attack_rdma_silent = { "rdma-silent", attack_no_path, 10, 1, post_none };

/* ---- order and sums ---- */

static int target_of_adders(struct bout *bout, int sock)
{
	return run_target(bout, sock,
			  &(struct rdma_target_cfg){ .num_requesters = NUM_ADDERS, .is_sum_checked = true });
}

static int adder(struct bout *bout, int sock)
{
	return run_requester(sock, &(struct rdma_requester_cfg){ .num_messages = NUM_MESSAGES });
}

static void expect_order(struct bout *bout)
{
	struct party *parties[NUM_ADDERS + 1];
	int socks[2];

	bout->patience_s *= 6;
	bout_session(bout);
	bout_pair(socks);
	parties[0] = bout_start(bout, "target", "host", target_of_adders, socks[0]);
	close(socks[0]);
	for (int i = 1; i <= NUM_ADDERS; i++)
		parties[i] = bout_start(bout, "adder", "dpu", adder, socks[1]);
	close(socks[1]);
	for (int i = 0; i <= NUM_ADDERS; i++)
		if (bout_wait(bout, parties[i]) && parties[i]->status == ROLE_REFUSED << 8)
			bout_defect(bout, &bout->tally->wrong, "failed without an attack", parties[i]->name);
}

/* On the others the target's helper takes part: a message takes milliseconds on a busy machine. */
static const char *const direct_paths[] = { "mapped", "procmem", "cma", NULL };

const struct attack attack_rdma_order = { "rdma-order", direct_paths, 500, 1, expect_order };
