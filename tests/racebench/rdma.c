/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of one process with two peers of RDMA: what the requester, or the receiver, does with the memory of its tasks. */
#include "racebench.h"

#include "tests/api/rdma_util.h"

#define SECOND ((size_t)PEER_ARENA_BYTES / 2) /* the other half of an arena */

struct pair {
	struct peer *a, *b;
};

/* A's memory is not for writes of peers: they could change the source of a message. */
static struct pair open_pair(void)
{
	struct pair pair = { peer_open(0, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ),
			     peer_open(1, RDMA_ALL_ACCESS) };

	for (size_t i = 0; i < SECOND; i++) {
		pair.a->arena[i] = rig_byte(i);
		pair.b->arena[i] = rig_byte(SECOND + i);
	}
	peer_start(pair.a);
	peer_start(pair.b);
	peers_connect(pair.a, pair.b);
	return pair;
}

static void close_pair(struct pair *pair)
{
	peers_drain(pair->a, pair->b, 0);
	peer_close(pair->a);
	peer_close(pair->b);
}

/* ---- tasks ---- */

static void read_from_b(struct pair *pair, const struct racebench_args *args)
{
	peer_read(pair->a, 1, peer_remote_buf(pair->a, pair->b, 0, args->len, args->len),
		  peer_buf(pair->a, SECOND, args->len, 0));
}

static void write_to_b(struct pair *pair, const struct racebench_args *args)
{
	peer_write(pair->a, 1, peer_buf(pair->a, 0, args->len, args->len),
		   peer_remote_buf(pair->a, pair->b, SECOND, args->len, 0));
}

static void receive_of_b(struct pair *pair, const struct racebench_args *args)
{
	peer_receive(pair->b, 1, peer_buf(pair->b, SECOND, args->len, 0));
}

static void send_to_b(struct pair *pair, const struct racebench_args *args)
{
	receive_of_b(pair, args);
	peer_send(pair->a, 2, peer_buf(pair->a, 0, args->len, args->len));
}

static void add_to_b(struct pair *pair, const struct racebench_args *args)
{
	(void)args;
	peer_fetch_add(pair->a, 1, peer_remote_buf(pair->a, pair->b, 0, 8, 8), peer_buf(pair->a, SECOND, 8, 0), 1);
}

/* ---- touches ---- */

static void write_byte(struct peer *peer, size_t offset)
{
	peer->arena[offset] = (uint8_t)~rig_byte(offset);
}

static void read_bytes(const struct peer *peer, size_t offset, size_t len)
{
	bool is_right = true;

	for (size_t i = 0; i < len; i++)
		is_right &= peer->arena[offset + i] == rig_byte(SECOND + i);
	racebench_use(is_right);
}

/* ---- programs ---- */

/* @touch follows the task, at once or when it is complete. */
#define PROGRAM(name, task, awaits, touch)                  \
	static void name(const struct racebench_args *args) \
	{                                                   \
		struct pair pair = open_pair();             \
                                                            \
		task(&pair, args);                          \
		if (awaits)                                 \
			peers_drain(pair.a, pair.b, 0);     \
		touch;                                      \
		close_pair(&pair);                          \
	}

PROGRAM(read_written_early, read_from_b, false, write_byte(pair.a, SECOND + args->at))
PROGRAM(read_written_in_time, read_from_b, true, write_byte(pair.a, SECOND + args->at))
PROGRAM(read_read_early, read_from_b, false, read_bytes(pair.a, SECOND, args->len))
PROGRAM(read_read_in_time, read_from_b, true, read_bytes(pair.a, SECOND, args->len))
PROGRAM(write_written_early, write_to_b, false, write_byte(pair.a, args->at))
PROGRAM(write_written_in_time, write_to_b, true, write_byte(pair.a, args->at))
PROGRAM(send_written_early, send_to_b, false, write_byte(pair.a, args->at))
PROGRAM(send_written_in_time, send_to_b, true, write_byte(pair.a, args->at))
PROGRAM(receive_written_early, send_to_b, false, write_byte(pair.b, SECOND + args->at))
PROGRAM(receive_written_in_time, send_to_b, true, write_byte(pair.b, SECOND + args->at))
PROGRAM(add_written_early, add_to_b, false, write_byte(pair.a, SECOND))
PROGRAM(add_written_in_time, add_to_b, true, write_byte(pair.a, SECOND))

/* The second task writes what the first one reads. */
static void read_and_write(const struct racebench_args *args)
{
	struct pair pair = open_pair();

	read_from_b(&pair, args);
	peer_write(pair.a, 2, peer_buf(pair.a, SECOND + args->at, args->len, args->len),
		   peer_remote_buf(pair.a, pair.b, SECOND, args->len, 0));
	close_pair(&pair);
}

/* The answer to the read says that the write was executed. */
static void write_and_read(const struct racebench_args *args)
{
	struct pair pair = open_pair();

	peer_write(pair.a, 2, peer_buf(pair.a, SECOND, args->len, args->len),
		   peer_remote_buf(pair.a, pair.b, SECOND, args->len, 0));
	read_from_b(&pair, args);
	peers_drain(pair.a, pair.b, 0);
	read_bytes(pair.a, SECOND, args->len);
	close_pair(&pair);
}

/* Two of a connection come in order: the second one's bytes stay. */
static void read_twice(const struct racebench_args *args)
{
	struct pair pair = open_pair();

	read_from_b(&pair, args);
	read_from_b(&pair, args);
	peers_drain(pair.a, pair.b, 0);
	read_bytes(pair.a, SECOND, args->len);
	close_pair(&pair);
}

/* The peer looks into its memory until the bytes are there. */
static void peer_polls(const struct racebench_args *args)
{
	struct pair pair = open_pair();
	const volatile uint8_t *last = pair.b->arena + SECOND + args->len - 1;

	write_to_b(&pair, args);
	while (*last != rig_byte(args->len - 1))
		peer_progress(pair.a);
	close_pair(&pair);
}

/* ---- the table ---- */

#define P(name, function, ...) RACEBENCH_PROGRAM(rdma, name, 1, run, function, __VA_ARGS__)

const struct racebench_program rdma_programs[] = {
	P(read_destination_written_racy, read_written_early, RACEBENCH_SMALL),
	P(read_destination_written_after_clean, read_written_in_time, RACEBENCH_SMALL),
	P(read_destination_written_64k_racy, read_written_early, RACEBENCH_BYTES(65536, 65535)),
	P(read_destination_read_racy, read_read_early, RACEBENCH_SMALL),
	P(read_destination_read_after_clean, read_read_in_time, RACEBENCH_SMALL),
	P(read_destination_read_after_64k_clean, read_read_in_time, RACEBENCH_LARGE),
	P(write_source_written_racy, write_written_early, RACEBENCH_SMALL),
	P(write_source_written_64k_racy, write_written_early, RACEBENCH_BYTES(65536, 0)),
	P(write_source_written_after_clean, write_written_in_time, RACEBENCH_SMALL),
	P(send_source_written_racy, send_written_early, RACEBENCH_SMALL),
	P(send_source_written_after_clean, send_written_in_time, RACEBENCH_SMALL),
	P(receive_buffer_written_racy, receive_written_early, RACEBENCH_SMALL),
	P(receive_buffer_written_after_clean, receive_written_in_time, RACEBENCH_SMALL),
	P(atomic_result_written_racy, add_written_early, RACEBENCH_SMALL),
	P(atomic_result_written_after_clean, add_written_in_time, RACEBENCH_SMALL),
	P(write_of_what_is_read_racy, read_and_write, RACEBENCH_BYTES(64, 63)),
	P(write_beside_what_is_read_clean, read_and_write, RACEBENCH_BYTES(64, 64)),
	P(read_into_what_is_written_clean, write_and_read, RACEBENCH_SMALL),
	P(reads_in_order_clean, read_twice, RACEBENCH_SMALL),
	P(peer_polls_last_byte_clean, peer_polls, RACEBENCH_SMALL),
	{ 0 },
};
