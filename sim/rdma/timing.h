/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/rdma/timing.h - the times of a queue pair's requests by the model of the network (pcie_model/net.h).
 *
 *   posted --the peer is connected--> [timed: arrival and end are known] --executed--> due at its end --> reaped
 *                                        '--message--> the responder takes it at its arrival
 *
 * Requests get their times in the order of their posts, when the peer is connected: the card sends them then, though the
 * requester executes some later, as the responder's memory has to see them in order.
 *
 * In functional time there is no such object.
 */
#ifndef SIM_RDMA_TIMING_H
#define SIM_RDMA_TIMING_H

#include "queue_pair.h"

struct sim_qp_timing;

/* Create the timing of a connection from @from to @to, functions of the session's topology. Returns 0 with *ret_timing,
 * which is NULL in functional time; -ENETUNREACH or -ENOMEM. */
int sim_qp_timing_create(struct sim_session *session, uint32_t from, uint32_t to, uint32_t mtu_bytes,
			 struct sim_qp_timing **ret_timing);

/* NULL is fine. */
void sim_qp_timing_destroy(struct sim_qp_timing *timing);

/* Of a message without data and its answer, on an idle network. */
uint64_t sim_qp_timing_round_trip_ns(const struct sim_qp_timing *timing);

/* The requester's time-out, after which it sends again. */
uint64_t sim_qp_timing_retransmission_ns(const struct sim_qp_timing *timing);

/* Fill in the times of a request, the next one in order. */
void sim_qp_timing_run(struct sim_qp_timing *timing, struct sim_rdma_work *work);

#endif
