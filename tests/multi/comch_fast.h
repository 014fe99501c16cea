/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/comch_fast.h - a worker on Comch's fast path: a thread with its own engine,
 * a consumer, or a producer, or both, on a connection of another thread's.
 *
 *   thread of the connection          worker
 *   fast_start()                 -->  starts consumer and producer, posts receives
 *   consumer event: fast_learn() -->  begins to send, when it knows of all consumers
 *                                <--  writes to done_fd when it is idle again
 *   fast_join()
 *
 * A producer sends to all consumers of the other end, messages whose sizes and
 * bytes follow from its id and their number. A consumer needs each producer's
 * messages in order, whole, none lost and none twice.
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

/* The other end's consumers, as its connection's thread hears of them. */
struct fast_book {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t ids[FAST_MAX];
	unsigned int count, expired;
	bool over; /* the connection is gone: there won't be more */
};

void fast_book_init(struct fast_book *book);
void fast_learn(struct fast_book *book, uint32_t id, bool is_new);
void fast_over(struct fast_book *book);

struct fast_cfg {
	struct doca_comch_connection *connection;
	struct doca_dev *dev;
	struct fast_book *book;
	bool sleeps;
	bool consumes, produces;
	bool endless;             /* until the connection goes; then errors are what is wanted */
	uint32_t num_peers;       /* consumers of the other end to send to, and producers that send to us */
	uint32_t num_messages;    /* to, and from, each of them */
	uint32_t max_len;         /* of a message */
	int freeze_fd;            /* hear one byte here before looking for messages; -1 = don't */
	const _Atomic bool *held; /* as long as it is true, the last message to each is not sent; NULL = it isn't */
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
	struct fast_producer_seen seen[FAST_MAX]; /* who sent how many */
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

/* In the connection's thread, while the connection lives: consumer and producer are made before it returns. */
void fast_start(struct fast *fast, const struct fast_cfg *cfg);
void fast_join(struct fast *fast);

#endif
