/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/rdma.h - the measured side of a comparison: RDMA between a host and a DPU process, through the public API.
 *
 *   host   the target: its memory is written, while it sleeps      answers
 *   DPU    the requester: has a task for each block of its memory  pings
 *
 * Block i of the requester's memory is written to block i of the target's. Written for speed: one task per buffer,
 * allocated once.
 */
#ifndef TESTS_BENCH_RDMA_H
#define TESTS_BENCH_RDMA_H

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <stdbool.h>

#include "card.h"
#include "pair.h"

struct bench_rdma_cfg {
	const struct bench_card *card;
	const char *path; /* for imports; NULL = the best */
	int memfd;        /* of the target's memory; -1 = private memory */
	bool blocks;      /* sleep on the notification handle rather than poll */
	bool echoes;      /* answer each message at once with the same bytes */
	uint32_t block_bytes, num_blocks, depth;
	uint16_t max_connections;
	const char *address; /* of the target, for connections by addresses; NULL = by descriptors */
};

/* What an end tells the other one. */
struct bench_rdma_place {
	uint8_t connection[64], memory[64];
	int32_t pid;
	uint64_t addr;
};

struct bench_rdma {
	const struct bench_rdma_cfg *cfg;
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	uint8_t *memory;
	struct doca_mmap *mmap, *remote;
	struct doca_buf_inventory *inventory;
	struct doca_rdma_connection *connection; /* the last one */
	struct doca_task **sends, **receives, **writes;
	struct doca_buf **local, **rooms, **remotes; /* data to send, room for messages, room in the target's memory */
	struct bench_rdma_place other;
	int epoll_fd;
	doca_notification_handle_t handle;             /* in it, with -1 for its data */
	uint64_t sent, received, written, established; /* counted by callbacks */
	uint64_t failed;
	uint64_t exchanged; /* exchanges of a ping-pong that were begun */
};

/* Enter the card on a side, open the device, the memory, a context. @arg of callbacks is the end. 0 or -1; close it in both
 * cases. */
int bench_rdma_open(const struct bench_rdma_cfg *cfg, const char *side, struct bench_rdma *ret_end);
int bench_rdma_close(struct bench_rdma *end);

/* Add a connection: by descriptors, which both ends send each other by @fd, with the import of the other's memory at the
 * first; or, of the requester, by the target's address. 0 or -1. */
int bench_rdma_connect(struct bench_rdma *end, int fd);
int bench_rdma_connect_to(struct bench_rdma *end, struct bench_rdma *other); /* an end of this process */
int bench_rdma_connect_to_address(struct bench_rdma *end);
int bench_rdma_export(struct bench_rdma *end); /* one that nobody connects to */
int bench_rdma_listen(struct bench_rdma *end);

/* Make the tasks of each block: messages, or writes of the other's memory. 0 or -1. */
int bench_rdma_make_messages(struct bench_rdma *end);
int bench_rdma_make_writes(struct bench_rdma *end);

/* Post the receive into block @block; send the block, on the connection of its task or on another one. 0 or -1. */
int bench_rdma_receive(struct bench_rdma *end, uint32_t block);
int bench_rdma_send(struct bench_rdma *end, uint32_t block);
int bench_rdma_send_on(struct bench_rdma *end, const struct doca_rdma_connection *connection, uint32_t block);

/* Write @count blocks from block @first on, round and round, each task as soon as there is room. 0 or -1. */
int bench_rdma_write(struct bench_rdma *end, uint32_t first, uint32_t count);

/* Progress until @counter is @value or more; by polling, or by sleeping between events. */
void bench_rdma_wait(struct bench_rdma *end, const uint64_t *counter, uint64_t value);

/* Sleep until the progress engine has something, or @fd (-1 = none) does. Whether it is @fd. */
bool bench_rdma_rest(struct bench_rdma *end, int fd);

/* A sleeping target: it connects by the socket of its process, and ends with it. */
int bench_rdma_target_start(const struct bench_rdma_cfg *cfg, struct bench_process *ret_process);

/* Two ends that exchange messages of pair.bytes. @cfg outlives the pair. 0 or -1. */
int bench_rdma_ping_pong(const struct bench_rdma_cfg *cfg, struct bench_pair *ret_pair);

#endif
