/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_comch_msgq.h - messages between this processor and the card's DPA.
 *
 *   [stopped] --set direction and counts, start--> [started] --stop--> [stopped] --> destroy
 *                                                  consumers and producers are created
 *
 * A MsgQ creates producers and consumers (doca_comch_producer.h, doca_comch_consumer.h)
 * without a server, a client or a connection, as both ends belong to one program.
 * It works in one direction: its consumers are on the DPA and its producers here,
 * or the other way round. A dialogue needs two MsgQs. Its messages are
 * immediate data only.
 *
 * Properties are set while the MsgQ is stopped, consumers and producers are created
 * while it is started; DOCA_ERROR_BAD_STATE otherwise. It can stop after they are destroyed.
 * Functions return DOCA_ERROR_INVALID_VALUE for a NULL argument. A MsgQ is used by
 * one thread at a time.
 */
#ifndef DOCA_COMCH_MSGQ_H_
#define DOCA_COMCH_MSGQ_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_comch_consumer;
struct doca_comch_msgq;
struct doca_comch_producer;
struct doca_dev;
struct doca_dpa;

/* A stopped MsgQ on @dev, which is borrowed; the caller owns the result. create:
 * DOCA_ERROR_NO_MEMORY. destroy, while stopped. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_create(struct doca_dev *dev, struct doca_comch_msgq **msgq);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_destroy(struct doca_comch_msgq *msgq);

/* The direction: consumers on @dpa and producers here, or the reverse. @dpa belongs
 * to the MsgQ's device. One of the two calls is needed. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_set_dpa_consumer(struct doca_comch_msgq *msgq, struct doca_dpa *dpa);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_set_dpa_producer(struct doca_comch_msgq *msgq, struct doca_dpa *dpa);

/* The most consumers and producers that can be created from it. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_set_max_num_consumers(struct doca_comch_msgq *msgq, uint32_t max_num_consumers);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_set_max_num_producers(struct doca_comch_msgq *msgq, uint32_t max_num_producers);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_start(struct doca_comch_msgq *msgq);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_stop(struct doca_comch_msgq *msgq);

/* Create a consumer or a producer of a started MsgQ. The caller configures, starts, stops
 * and destroys it like any other. An end on the DPA needs no progress engine, but doca_ctx_set_datapath_on_dpa(),
 * completions and a number of receives or sends. Ids count from 1 in each MsgQ. */
DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_consumer_create(struct doca_comch_msgq *msgq, struct doca_comch_consumer **consumer);

DOCA_EXPERIMENTAL
doca_error_t doca_comch_msgq_producer_create(struct doca_comch_msgq *msgq, struct doca_comch_producer **producer);

#ifdef __cplusplus
}
#endif

#endif
