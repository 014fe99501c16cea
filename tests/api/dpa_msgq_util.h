/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/dpa_msgq_util.h - two MsgQs, one in each direction, between this processor and kernels (dpa/msgq_kernels.c). */
#ifndef TESTS_DPA_MSGQ_UTIL_H
#define TESTS_DPA_MSGQ_UTIL_H

#include <doca_comch_consumer.h>
#include <doca_comch_msgq.h>
#include <doca_comch_producer.h>

#include "dpa/msgq_kernels.h"
#include "dpa_util.h"

/* Of dpa/msgq_kernels.c. */
doca_dpa_func_t post_receives, take_message, wait_message, take_without_ack, read_acked_message, send_bytes,
	is_consumer_empty, take_sent, wait_sent, copy_and_tell, send_in_turn, echo;

#define MSGQ_DEPTH     4
#define MSGQ_IMM_BYTES 60

/* Ends of two MsgQs: TO_DPA, and FROM_DPA. */
struct msgq_rig {
	struct doca_dpa *dpa;
	struct doca_pe *pe;
	struct doca_dpa_thread *thread;
	doca_dpa_dev_uintptr_t args;
	struct doca_comch_consumer_completion *taken;
	struct doca_dpa_completion *sent;
	struct doca_comch_msgq *to_dpa, *from_dpa;
	struct doca_comch_consumer *dpa_consumer, *cpu_consumer;
	struct doca_comch_producer *dpa_producer, *cpu_producer;
	struct echo_args handles;
	/* What callbacks saw: */
	unsigned int num_sent, num_send_errors, num_received, num_receive_errors;
	uint8_t last[64];
	uint32_t last_len, last_producer;
	uint32_t lens[16]; /* of the messages, in their order */
	bool reposts;
};

/* Setup and teardown of a test that has a rig as its state; the test opens api_dev(). */
int msgq_setup(void **state);
int msgq_teardown(void **state);

/* A producer of the DPA in FROM_DPA, which is not started; its sends complete in @sent. */
struct doca_comch_producer *msgq_new_dpa_producer(struct msgq_rig *rig, struct doca_dpa_completion *sent);

/* Stop a context, and progress until it is idle. */
void msgq_stop(struct msgq_rig *rig, struct doca_ctx *ctx);

/* Have a kernel run, whose value is returned; and one that is fatal. */
#define MSGQ_RPC(rig, function, ...)                                                     \
	({                                                                               \
		uint64_t value_ = 0;                                                     \
		assert_ok(doca_dpa_rpc((rig)->dpa, (function), &value_, ##__VA_ARGS__)); \
		value_;                                                                  \
	})

#define MSGQ_RPC_FAILS(rig, function, ...)                                                                    \
	do {                                                                                                  \
		uint64_t value_;                                                                              \
		assert_doca(doca_dpa_rpc((rig)->dpa, (function), &value_, ##__VA_ARGS__), DOCA_ERROR_DRIVER); \
		dpa_remove_crash_file(NULL);                                                                  \
	} while (0)

/* Send to the DPA's consumer; send_byte() must succeed. */
doca_error_t msgq_try_send(struct msgq_rig *rig, const void *bytes, uint32_t len);
void msgq_send_byte(struct msgq_rig *rig, uint8_t byte);

/* Callbacks of receives of this processor, of contexts with the rig as their user data. */
void msgq_on_received(struct doca_comch_consumer_task_post_recv *task, union doca_data data, union doca_data ctx_data);
void msgq_on_receive_error(struct doca_comch_consumer_task_post_recv *task, union doca_data data,
			   union doca_data ctx_data);

/* Post receives of the consumer of this processor. */
void msgq_post(struct msgq_rig *rig, unsigned int num);

/* Progress until a count of the rig has the value. */
void msgq_progress_until(struct msgq_rig *rig, const unsigned int *count, unsigned int value);

/* The thread that answers each message with the same one: what it has counted, and its run. */
struct echo_args msgq_read_args(struct msgq_rig *rig);
void msgq_run_echo(struct msgq_rig *rig);

#endif
