/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes from the peer of a ring of served memory: in the ring that both share, and on its socket. An importer writes what the
 * exporter serves: the exporter reads and writes within the memory that it exposes, keeps what is read-only, and begins and
 * completes requests of far memory once. An exporter writes what the importer waits for: the importer's copies end, within its
 * memory. The first byte chooses the side under test; then each byte is a step of it or of its peer. Seeds are in corpus/served. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz_input.h"
#include "sim/fabric/served/served_priv.h"

#define EXPOSED_BYTES 8192u
#define FAR_BYTES     (1u << 20)
#define MAX_COPY      (3 * SERVED_SLOT_BYTES)

/* A length near one of those that matter. */
static uint32_t length_of(struct input *in)
{
	static const uint32_t near[] = { 0,
					 sizeof(struct sim_far_operands),
					 SERVED_SMALL_BYTES,
					 EXPOSED_BYTES,
					 SERVED_SLOT_BYTES,
					 FAR_BYTES,
					 1u << 31,
					 0 };
	uint8_t what = byte_of(in);

	return near[what % 8] + what / 8 - 16;
}

/* The peer writes anywhere in the numbers of the ring and in its requests. */
static void overwrite(struct input *in, struct served_ring *ring)
{
	const size_t size = offsetof(struct served_ring, small);
	size_t where = (size_t)byte_of(in) * 8 % size, len = byte_of(in) % 64;

	take_bytes(in, (uint8_t *)ring + where, size - where, len);
}

/* ---- the exporter, whose importer is hostile ---- */

enum { GRANT_READ_ONLY, GRANT_WRITABLE, GRANT_FAR, GRANT_HIDDEN, NUM_GRANTS };

struct exporter {
	struct sim_target *target;
	struct served_ring *ring; /* the importer's mapping */
	struct served_initiator_ring initiator;
	int sock; /* the importer's end */
	struct sim_grant grants[NUM_GRANTS];
	uint8_t *read_only, *writable;      /* of the exact size, so that an access beyond it shows */
	uint64_t tokens[SERVED_RING_SLOTS]; /* of requests of far memory that are begun */
	unsigned int num_tokens;
	uint64_t completed; /* the last of them */
};

/* Far memory: the request is kept, or refused. The sum reads every byte that the request says it has. */
static int begin(void *arg, const struct sim_far_request *request)
{
	struct exporter *end = arg;
	uint8_t sum = 0;

	promise(request->kind <= SIM_SERVED_FAR_OP && request->len_bytes <= SERVED_SLOT_BYTES);
	promise(request->offset <= FAR_BYTES);
	promise(request->kind == SIM_SERVED_FAR_OP || request->len_bytes <= FAR_BYTES - request->offset);
	for (uint32_t i = 0; i < request->len_bytes; i++)
		sum += request->bytes[i];
	if (sum % 16 == 15)
		return -EIO;
	promise(end->num_tokens < SERVED_RING_SLOTS); /* no more are begun than there are slots */
	end->tokens[end->num_tokens++] = request->token;
	return 0;
}

/* With more bytes than there is room for, or fewer; the same answer may come again later. The next slot's bytes stay. */
static void complete_one(struct input *in, struct exporter *end)
{
	static const uint8_t bytes[SERVED_SLOT_BYTES + 64];
	uint8_t what = byte_of(in);
	uint32_t next;

	if (what & 2 && end->num_tokens > 0)
		end->completed = end->tokens[--end->num_tokens];
	next = (end->completed + 1) % SERVED_RING_SLOTS;
	end->ring->small[next][0] = end->ring->buffers[next][0] = 1;
	sim_target_complete(end->target, end->completed, what & 4 ? -EIO : 0, bytes, what & 1 ? sizeof(bytes) : what);
	promise(end->ring->small[next][0] == 1 && end->ring->buffers[next][0] == 1);
}

static void exporter_connect(struct exporter *end)
{
	struct served_wait wait = { .events = POLLIN };

	promise(sim_target_connect(end->target, SIM_TRANSPORT_SHM, &end->sock) == 0);
	wait.sock = end->sock;
	promise(served_initiator_ring_open(end->sock, &end->initiator, &wait) == 0);
	end->ring = end->initiator.segment.base;
	end->num_tokens = 0;
}

static void exporter_open(struct exporter *end)
{
	*end = (struct exporter){ .read_only = calloc(1, EXPOSED_BYTES), .writable = calloc(1, EXPOSED_BYTES) };
	promise(end->read_only && end->writable && sim_target_create(4, &end->target) == 0);
	promise(sim_target_expose(end->target, end->read_only, EXPOSED_BYTES, false, &end->grants[GRANT_READ_ONLY]) ==
		0);
	promise(sim_target_expose(end->target, end->writable, EXPOSED_BYTES, true, &end->grants[GRANT_WRITABLE]) == 0);
	promise(sim_target_expose_far(end->target, FAR_BYTES, begin, end, &end->grants[GRANT_FAR]) == 0);
	promise(sim_target_expose(end->target, end->writable, EXPOSED_BYTES, true, &end->grants[GRANT_HIDDEN]) == 0);
	sim_target_hide(end->target, &end->grants[GRANT_HIDDEN]);
	exporter_connect(end);
}

static void hang_up(struct exporter *end)
{
	served_initiator_ring_close(&end->initiator);
	close(end->sock);
}

static void exporter_close(struct exporter *end)
{
	for (uint32_t i = 0; i < EXPOSED_BYTES; i++)
		promise(end->read_only[i] == 0);
	hang_up(end);
	sim_target_destroy(end->target);
	free(end->read_only);
	free(end->writable);
}

/* A request that is nearly right. */
static void post_request(struct input *in, struct exporter *end)
{
	struct served_ring *ring = end->ring;
	uint8_t what = byte_of(in);
	struct served_request request = { .grant = end->grants[what % NUM_GRANTS], .kind = what / 4 % 4 };

	request.len_bytes = length_of(in);
	request.offset = what & 16 ? length_of(in) : 0;
	if (what & 32)
		request.offset |= (uint64_t)byte_of(in) << 56;
	if (what & 64)
		request.grant.index += byte_of(in);
	if (what & 128)
		request.grant.secret[byte_of(in) % SIM_GRANT_SECRET_SIZE]++;
	memset(ring->small, what, sizeof(ring->small[0]));
	ring->slots[atomic_load(&ring->posted) % SERVED_RING_SLOTS].request = request;
	atomic_fetch_add(&ring->posted, 1);
}

static void exporter_step(struct input *in, struct exporter *end)
{
	uint8_t what = byte_of(in);

	switch (what % 8) {
	case 0:
		overwrite(in, end->ring);
		break;
	case 1:
	case 2:
		post_request(in, end);
		break;
	case 3:
		atomic_fetch_add(&end->ring->posted, what / 8);
		break;
	case 4:
		complete_one(in, end);
		break;
	case 5:
		(void)!send(end->sock, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	case 6:
		sim_target_trim(end->target);
		break;
	default: /* another connection of the same importer; answers to the first may come yet */
		hang_up(end);
		sim_target_may_sleep(end->target);
		sim_target_serve(end->target);
		exporter_connect(end);
	}
	sim_target_serve(end->target);
	sim_target_may_sleep(end->target);
}

static void attack_exporter(struct input *in)
{
	struct exporter end;

	exporter_open(&end);
	while (in->left > 0)
		exporter_step(in, &end);
	exporter_close(&end);
}

/* ---- the importer, whose exporter is hostile ---- */

/* All that the exporter says is there before the copy begins. Where it says too little, a revocation ends the copy. */
static bool copy(struct input *in, struct served_initiator_ring *initiator, int sock)
{
	static const struct sim_grant grant = { .index = 1 };
	const atomic_bool revoked = true;
	struct served_wait wait = { .revoked = &revoked, .sock = sock, .events = POLLIN };
	struct served_op op = { .grant = &grant, .kind = byte_of(in) % 3 };
	bool is_in_step;
	int rc;

	op.len = op.kind == SIM_SERVED_FAR_OP ? sizeof(struct sim_far_operands) : 1 + length_of(in) % MAX_COPY;
	op.is_far = byte_of(in) & 1;
	op.local = calloc(1, op.len); /* of the exact size, so that an access beyond it shows */
	promise(op.local != NULL);
	rc = served_initiator_ring_copy(initiator, &op, &wait, &is_in_step);
	promise(rc <= 0 && rc > -4096);
	promise(is_in_step || rc == -EPROTO || rc == -EIO || rc == -ECONNRESET);
	free(op.local);
	return is_in_step;
}

/* Returns false when the importer gives the connection up. */
static bool importer_step(struct input *in, struct served_conn *conn, struct served_initiator_ring *initiator, int sock)
{
	struct served_ring *ring = conn->segment.base;
	uint8_t what = byte_of(in);

	switch (what % 4) {
	case 0:
		overwrite(in, ring);
		break;
	case 1:
		atomic_store(&ring->done, initiator->num_done + what / 4);
		break;
	case 2:
		ring->slots[what / 4 % SERVED_RING_SLOTS].status = -(int32_t)byte_of(in) + 2;
		break;
	default:
		return copy(in, initiator, sock);
	}
	return true;
}

static void attack_importer(struct input *in)
{
	struct served_conn conn = { .sock = -1, .ring_fd = -1 };
	struct served_initiator_ring initiator;
	struct served_wait wait = { .events = POLLIN };
	int sock;

	promise(served_shm_open(&conn, &sock) == 0);
	wait.sock = sock;
	promise(served_initiator_ring_open(sock, &initiator, &wait) == 0);
	while (in->left > 0 && importer_step(in, &conn, &initiator, sock))
		;
	served_initiator_ring_close(&initiator);
	sim_segment_unmap(&conn.segment);
	close(conn.ring_fd);
	close(conn.sock);
	close(sock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { .bytes = data, .left = size };

	if (byte_of(&in) & 1)
		attack_importer(&in);
	else
		attack_exporter(&in);
	return 0;
}
