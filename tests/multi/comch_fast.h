/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/comch_fast.h - a worker on Comch's fast path: a thread with its own engine,
 * a consumer, or a producer, or both, on another thread's connection.
 *
 *   thread of the connection          worker
 *   fast_start()                 -->  starts consumer and producer, posts receives
 *   consumer event: fast_learn() -->  starts to send when it knows all consumers
 *                                <--  writes to done_fd when it is idle again
 *   fast_join()
 *
 * A producer sends to all consumers of the other end. Its id and the message's
 * number determine size and bytes of a message. A consumer checks that each
 * producer's messages arrive complete, in order and exactly once.
 */
#ifndef TESTS_MULTI_COMCH_FAST_H
#define TESTS_MULTI_COMCH_FAST_H

#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <pthread.h>
#include <stdatomic.h>

#include "comch_peer.h"

#define FAST_MAX   8 /* consumers, or producers, at one end */
#define FAST_DEPTH 4 /* messages that one posts, or sends, at once */

/* The other end's consumers, as the connection's thread learns of them. */
struct fast_consumers {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t ids[FAST_MAX];
	unsigned int count, expired;
	bool over; /* the connection is gone: there won't be more */
};

void fast_consumers_init(struct fast_consumers *consumers);
void fast_learn(struct fast_consumers *consumers, uint32_t id, bool is_new);
void fast_over(struct fast_consumers *consumers);

struct fast_cfg {
	struct doca_comch_connection *connection;
	struct doca_dev *dev;
	struct fast_consumers *consumers;
	bool sleeps;
	bool consumes, produces;
	bool endless;             /* run until the connection closes; errors are then expected */
	bool is_unchecked;        /* the other end is hostile: any message will do */
	uint32_t num_peers;       /* consumers of the other end to send to, and producers that send to us */
	uint32_t num_messages;    /* to, and from, each of them */
	uint32_t max_len;         /* of a message */
	int freeze_fd;            /* read one byte here before the first poll for messages; -1 = don't */
	const _Atomic bool *held; /* while true, the last message to each consumer is withheld; NULL = never */
	int done_fd;              /* an eventfd */
};

struct fast_producer_seen {
	uint32_t id, seq;
};

/* Place for one message to send. */
struct fast_slot {
	struct doca_buf *buf;
	uint8_t imm[8];
	bool busy;
};

struct fast {
	struct fast_cfg cfg;
	pthread_t thread;
	struct loop loop;
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	enum doca_ctx_states consumer_state, producer_state;
	uint32_t producer_id;
	struct fast_producer_seen seen[FAST_MAX]; /* messages received per sender */
	uint32_t next_seq[FAST_MAX];              /* to send, by consumer */
	struct fast_slot slots[FAST_DEPTH];
	uint8_t *memory; /* FAST_DEPTH to receive, and as many to send */
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	_Atomic uint64_t received, sent;
	_Atomic uint64_t unreceived, failed; /* tasks that ended with an error */
	_Atomic uint64_t refused;            /* with AGAIN */
	_Atomic bool done;
};

/* Call in the connection's thread while the connection exists: creates consumer and producer before it returns. */
void fast_start(struct fast *fast, const struct fast_cfg *cfg);
void fast_join(struct fast *fast);

#endif
