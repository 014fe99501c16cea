/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes from the peer of a queue pair: in the inbox that it writes, in that by which it answers, in the doorbells. The requester
 * and the responder move bytes within the memory of their works, complete each work once, or go to an error; each of their
 * steps ends. The first byte says whether the peer's inbox is written before the connect; then each byte is a step of
 * the queue pair's owner or of the peer. Seeds are in corpus/queue_pair. */
#include <errno.h>

#include "fuzz_input.h"
#include "sim/rdma/queue_pair_priv.h"

#define MS        UINT64_C(1000000)
#define MAX_WORKS 32
#define MAX_BYTES 16384

struct send {
	struct sim_rdma_work work;
	struct sim_rdma_segment segments[2];
	uint8_t *bytes; /* of the exact size, so that an access beyond it shows; NULL = not posted */
	int execute_result;
};

struct place {
	struct sim_rdma_receive receive;
	struct sim_rdma_segment segments[2];
	uint8_t *bytes;
};

struct end {
	struct sim_qp_group group;
	struct sim_qp *qp;
	struct send sends[MAX_WORKS];
	struct place places[MAX_WORKS];
};

/* The peer writes anywhere in the memory; most of it at the front, where the numbers are. */
static void overwrite(struct input *in, void *memory, size_t size)
{
	size_t where = (size_t)byte_of(in) * 8 % size, len = byte_of(in) % 32;

	take_bytes(in, (uint8_t *)memory + where, size - where, len);
}

/* ---- works ---- */

static int execute(struct sim_rdma_work *work)
{
	return ((struct send *)work)->execute_result;
}

/* In two parts, of which the first may be empty. */
static void set_segments(struct sim_rdma_segment segments[2], uint8_t *bytes, size_t len, size_t first)
{
	segments[0] = (struct sim_rdma_segment){ .addr = (uintptr_t)bytes, .bytes = first };
	segments[1] = (struct sim_rdma_segment){ .addr = (uintptr_t)bytes + first, .bytes = len - first };
}

static void post_work(struct input *in, struct end *end)
{
	size_t len = (size_t)byte_of(in) * 80 % (MAX_BYTES + 1);
	uint8_t kind = byte_of(in);

	for (int i = 0; i < MAX_WORKS; i++) {
		struct send *send = &end->sends[i];

		if (send->bytes)
			continue;
		send->bytes = calloc(1, len + 1);
		promise(send->bytes != NULL);
		set_segments(send->segments, send->bytes, len, len * (kind % 4) / 4);
		send->execute_result = kind & 64 ? -EACCES : 0;
		send->work = (struct sim_rdma_work){ .execute = kind & 4 ? execute : NULL,
						     .has_message = !(kind & 8),
						     .is_written = kind & 16,
						     .has_immediate = kind & 32,
						     .segments = send->segments,
						     .num_segments = 2,
						     .bytes = len,
						     .not_before_ns = kind & 128 ? 5 * MS : 0 };
		if (sim_qp_post(end->qp, &send->work) == 0)
			return;
		free(send->bytes);
		send->bytes = NULL;
		return;
	}
}

static void post_receive(struct input *in, struct end *end)
{
	size_t len = (size_t)byte_of(in) * 80 % (MAX_BYTES + 1);

	for (int i = 0; i < MAX_WORKS; i++) {
		struct place *place = &end->places[i];

		if (place->bytes)
			continue;
		place->bytes = malloc(len + 1);
		promise(place->bytes != NULL);
		set_segments(place->segments, place->bytes, len, len / 3);
		place->receive =
			(struct sim_rdma_receive){ .segments = place->segments, .num_segments = 2, .room_bytes = len };
		sim_receive_pool_post(&end->group.receives, &place->receive);
		return;
	}
}

static void reap(struct end *end, uint64_t now_ns)
{
	struct sim_rdma_receive *receive;
	struct sim_rdma_work *work;

	while ((work = sim_qp_group_reap(&end->group))) {
		struct send *send = (struct send *)work;

		promise(send->bytes != NULL && work->status <= 0 && work->status > -4096);
		free(send->bytes);
		send->bytes = NULL;
	}
	while ((receive = sim_receive_pool_reap(&end->group.receives, now_ns))) {
		struct place *place = (struct place *)receive;

		promise(place->bytes != NULL && receive->status <= 0);
		promise(receive->status < 0 || receive->is_written || receive->bytes <= receive->room_bytes);
		free(place->bytes);
		place->bytes = NULL;
	}
}

/* ---- the peer ---- */

/* A record of any kind, with a head that is nearly right. */
static void write_record(struct input *in, struct end *from)
{
	uint8_t bytes[SIM_INBOX_RECORD_BYTES + sizeof(struct sim_inbox_head)] = { 0 };
	uint8_t what = byte_of(in);
	size_t len = (size_t)byte_of(in) * 17 % (sizeof(bytes) + 1);
	struct sim_inbox_head head = { .number = from->qp->out.count + 1,
				       .bytes = len > sizeof(head) ? len - sizeof(head) : 0 };

	if (what & 8)
		head.number = byte_of(in);
	if (what & 16)
		head.bytes = (uint64_t)byte_of(in) << what % 64;
	memcpy(bytes, &head, sizeof(head));
	if (from->qp->out.shared)
		sim_ring_write(&from->qp->out, what % 5, bytes, len);
}

static void answer(struct input *in, struct sim_inbox_shared *inbox)
{
	uint8_t what = byte_of(in);

	switch (what % 4) {
	case 0:
		atomic_fetch_add(&inbox->executed, what / 64);
		break;
	case 1:
		atomic_store(&inbox->not_ready, atomic_load(&inbox->executed) + what / 64);
		break;
	case 2:
		atomic_store(&inbox->state, what / 64);
		break;
	default:
		atomic_fetch_add(&inbox->claim, what / 64);
	}
}

/* One step of the owner or of the peer. */
static void play_one(struct input *in, struct end *end, struct end *peer, uint64_t *now_ns)
{
	switch (byte_of(in) % 11) {
	case 0:
		overwrite(in, end->qp->inbox, SIM_INBOX_BYTES);
		break;
	case 1:
		overwrite(in, peer->qp->inbox, SIM_INBOX_BYTES);
		break;
	case 2:
		overwrite(in, end->group.doorbell_memory.base, sizeof(struct sim_doorbell_shared));
		break;
	case 3:
		write_record(in, peer);
		break;
	case 4:
		answer(in, peer->qp->inbox);
		break;
	case 5:
		post_work(in, end);
		break;
	case 6:
		post_receive(in, end);
		break;
	case 7:
		*now_ns += byte_of(in) * MS / 4;
		break;
	case 8:
		sim_qp_group_arm(&end->group);
		sim_qp_group_on_alarm(&end->group);
		break;
	case 9: /* the peer is honest */
		post_work(in, peer);
		break;
	default:
		post_receive(in, peer);
	}
	sim_qp_progress(peer->qp, *now_ns);
	sim_qp_group_progress(&end->group);
	sim_qp_progress(end->qp, *now_ns);
	reap(end, *now_ns);
	reap(peer, *now_ns);
}

/* ---- life ---- */

static void open_end(struct sim_session *session, struct end *end)
{
	const struct sim_qp_cfg cfg = { .group = &end->group,
					.max_works = MAX_WORKS,
					.rnr_budget_ns = 10 * MS,
					.ack_timeout_ns = 50 * MS,
					.wake_fd = -1 };

	memset(end, 0, sizeof(*end));
	sim_qp_group_init(&end->group);
	promise(sim_qp_create(session, &cfg, &end->qp) == 0);
}

static void close_end(struct end *end)
{
	sim_qp_fail(end->qp, -ECANCELED);
	sim_receive_pool_flush(&end->group.receives);
	reap(end, 0);
	for (int i = 0; i < MAX_WORKS; i++)
		promise(!end->sends[i].bytes && !end->places[i].bytes); /* each was completed */
	sim_qp_destroy(end->qp);
	sim_qp_group_close(&end->group);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sim_session_cfg cfg = { .side = "dpu" };
	struct input in = { .bytes = data, .left = size };
	static struct sim_session *session;
	static struct end end, peer;
	uint64_t now_ns = MS;

	if (!session)
		promise(sim_session_attach(&cfg, &session) == 0);
	open_end(session, &end);
	open_end(session, &peer);
	if (byte_of(&in) & 1)
		overwrite(&in, peer.qp->inbox, SIM_INBOX_BYTES);
	if (sim_qp_connect(end.qp, sim_qp_key(peer.qp)) == 0 && sim_qp_connect(peer.qp, sim_qp_key(end.qp)) == 0)
		while (in.left > 0)
			play_one(&in, &end, &peer, &now_ns);
	close_end(&end);
	close_end(&peer);
	return 0;
}
