/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes in memory that another process shares with us: rings and posted
 * receives give what is in bounds, or refuse. The first bytes choose the sizes and
 * what we do; the rest is what the other side writes over the shared memory,
 * all of it before and a piece between two of our steps. Seeds are in corpus/shm. */
#include <errno.h>

#include "fuzz_input.h"
#include "sim/shm/recvq.h"
#include "sim/shm/ring.h"

/* The other side writes at a place of the input. */
static void overwrite(struct input *in, uint8_t *memory, size_t size, size_t limit)
{
	size_t where = (size_t)byte_of(in) * 8 % size;

	take_bytes(in, memory + where, size - where, limit);
}

static uint8_t *shared_new(size_t size)
{
	uint8_t *memory = aligned_alloc(64, (size + 63) / 64 * 64);

	promise(memory != NULL);
	memset(memory, 0, (size + 63) / 64 * 64);
	return memory;
}

static void read_ring(struct sim_ring *ring)
{
	uint8_t *buf = malloc(ring->max_record_bytes); /* of the exact size, so that a write beyond it shows */
	uint32_t kind;
	size_t len;
	int rc;

	promise(buf != NULL);
	rc = sim_ring_read(ring, &kind, buf, &len);
	promise(rc == 0 || rc == -EAGAIN || rc == -EPROTO);
	promise(rc < 0 || len <= ring->max_record_bytes);
	sim_ring_needs_notify(ring);
	free(buf);
}

static void try_ring(struct input *in)
{
	struct sim_ring_cfg cfg = { .max_records = byte_of(in) % 16 + 1, .max_record_bytes = byte_of(in) + 4 };
	size_t size = sim_ring_size(&cfg);
	uint8_t *memory = shared_new(size);
	uint8_t record[256 + 4] = "";
	struct sim_ring reader, writer;

	sim_ring_init(&reader, &cfg, memory);
	sim_ring_init(&writer, &cfg, memory);
	while (in->left > 0) {
		uint8_t what = byte_of(in);

		if (what & 1)
			overwrite(in, memory, size, what / 4);
		if (what & 2)
			read_ring(&reader);
		else if (sim_ring_write(&writer, what, record, what % (cfg.max_record_bytes + 1)) == -EAGAIN)
			sim_ring_arm_space(&writer, 1);
	}
	free(memory);
}

static void poll_one(struct sim_recvq *queue, const struct sim_recvq_desc *desc)
{
	uint8_t *bytes = malloc(queue->max_imm_bytes + SIM_RECVQ_INLINE_BYTES);
	struct sim_recvq_message message;
	int rc;

	promise(bytes != NULL);
	rc = sim_recvq_poll(queue, desc, bytes, &message);
	promise(rc == 0 || rc == -EAGAIN || rc == -EPROTO);
	promise(rc < 0 || (message.len_bytes <= desc->len_bytes && message.imm_bytes <= queue->max_imm_bytes));
	promise(rc < 0 || !message.inlined || message.len_bytes <= SIM_RECVQ_INLINE_BYTES);
	free(bytes);
}

static void send_one(struct sim_recvq *queue, uint8_t what)
{
	struct sim_recvq_message message = { .producer = what, .len_bytes = 4, .inlined = (const uint8_t *)"four" };
	struct sim_recvq_desc desc;
	uint64_t slot;

	if (sim_recvq_reserve(queue, 4) < 0)
		return;
	sim_recvq_claim(queue, &slot, &desc);
	sim_recvq_fill(queue, slot, &message);
}

static void try_recvq(struct input *in)
{
	struct sim_recvq_cfg cfg = { .num_slots = byte_of(in) % 8 + 1, .max_imm_bytes = byte_of(in) % 33 };
	const struct sim_recvq_desc desc = { .addr = 4096,
					     .len_bytes = byte_of(in) * 8u }; /* some longer than a slot */
	size_t size = sim_recvq_size(&cfg);
	uint8_t *memory = shared_new(size);
	struct sim_recvq consumer, producer;

	sim_recvq_init(&consumer, &cfg, memory);
	sim_recvq_init(&producer, &cfg, memory);
	while (in->left > 0) {
		uint8_t what = byte_of(in);

		if (what & 1)
			overwrite(in, memory, size, what / 4);
		if (what & 2)
			send_one(&producer, what);
		else if (consumer.posted - consumer.polled < cfg.num_slots)
			sim_recvq_post(&consumer, &desc);
		poll_one(&consumer, &desc);
	}
	free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { .bytes = data, .left = size };

	if (byte_of(&in) & 1)
		try_ring(&in);
	else
		try_recvq(&in);
	return 0;
}
