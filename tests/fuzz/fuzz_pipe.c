/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes from the other end of a message pipe: in the ring, in the doorbells, in what it reads of ours, in what its carrier
 * brings. The end under test gives events that are in bounds, or ends the pipe; each of its steps ends. The first byte
 * chooses whether messages take time; then each byte is a step of ours or of the other end. Seeds are in corpus/pipe. */
#include <errno.h>

#include "fuzz_input.h"
#include "tests/unit/pipe_rig.h"

static const struct pcie_comch_timing timing = { .one_way_ps = 1000000, .send_ps = 100000 };

/* The other end writes anywhere in @segment; most of it at the front, where the numbers are. */
static void overwrite(struct input *in, struct sim_segment *segment)
{
	size_t where = (size_t)byte_of(in) * 8 % segment->len_bytes, len = byte_of(in) % 32;

	take_bytes(in, (uint8_t *)segment->base + where, segment->len_bytes - where, len);
}

/* A record of any kind, with bytes of the input. */
static void write_record(struct input *in, struct rig_end *from)
{
	uint8_t bytes[RIG_MSG_BYTES + sizeof(struct sim_pipe_hdr)] = { 0 };
	uint32_t kind = byte_of(in) % 8;
	size_t len = byte_of(in) % (sizeof(bytes) + 1);

	memcpy(bytes, in->bytes, in->left < len ? in->left : len);
	if (from->pipe.out.shared && sim_ring_write(&from->pipe.out, kind, bytes, len) == 0)
		sim_doorbell_ring(from->pipe.peer_doorbells, from->pipe.peer_slot);
}

static void arrive(struct input *in, struct rig_end *to)
{
	struct sim_handshake_msg msg = { .len_bytes = byte_of(in) % (SIM_HANDSHAKE_MSG_SIZE + 1) };

	msg.body[0] = byte_of(in);
	sim_pipe_add_arrival(&to->pipe, &msg, sizeof(struct sim_consumer_info));
	sim_doorbell_requeue(&to->group.doorbells, to->pipe.slot);
}

/* One step of the end under test. Returns false if it ended the pipe. */
static bool step(struct rig_end *end)
{
	struct sim_pipe_event event;
	int rc = rig_poll(end, &event);

	if (rc == 1 && event.kind == SIM_PIPE_RECEIVED) {
		uint8_t sum = 0;

		RIG_NEED(event.len <= RIG_MSG_BYTES);
		for (uint32_t i = 0; i < event.len; i++)
			sum += event.bytes[i];
		(void)*(volatile uint8_t *)&sum;
	}
	if (rc == 1 && event.kind == SIM_PIPE_OBJECT_NEW)
		sim_handshake_msg_close(&event.announcement);
	if (rc == 1)
		rig_release(end, &event);
	RIG_NEED(rc == 0 || rc == 1 || rc == -EPROTO || rc == -ECONNRESET);
	while (sim_poll_group_has_completed(&end->group))
		sim_poll_group_pop_completed(&end->group);
	return rc >= 0;
}

static void play(struct input *in, struct rig *rig)
{
	static struct sim_pipe_send sends[256];
	struct rig_end *end = &rig->a, *other = &rig->b;

	for (unsigned int num_sends = 0; in->left > 0;) {
		uint8_t what = byte_of(in);

		switch (what % 8) {
		case 0:
			overwrite(in, &end->pipe.in_memory);
			break;
		case 1:
			overwrite(in, &end->pipe.out_memory);
			break;
		case 2:
			overwrite(in, &end->group.memory);
			sim_poll_group_find_missed_rings(&end->group);
			break;
		case 3:
			write_record(in, other);
			break;
		case 4:
			arrive(in, end);
			break;
		case 5:
			if (num_sends < 256 && rig_send(end, &sends[num_sends++], "text") < 0)
				return;
			break;
		case 6:
			rig_pass_time(rig, 500);
			break;
		default:
			sim_pipe_has_event(&end->pipe);
			sim_poll_group_arm(&end->group);
		}
		if (!step(end))
			return;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { .bytes = data, .left = size };
	static struct rig rig;

	rig_open(&rig, SIM_CLOCK_VIRTUAL, byte_of(&in) & 1 ? &timing : NULL);
	play(&in, &rig);
	rig_close(&rig);
	return 0;
}
