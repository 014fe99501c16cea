/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/rdma/network_path.h - the path between two functions while a network link on it is down (sim/clock/net_outage.h).
 *
 *   a request is lost --> sent again, at intervals --> the path is up: work goes on
 *                              '--ack_timeout_ns after the first loss--> the queue pair fails with -ENETDOWN
 *
 * What waits for the path is what a card would not have: a request that was not executed, an answer that has not come, a work
 * whose end by the model has come. In model time the interval is the card's time-out for retransmission; in functional time work
 * goes on as soon as the path is up.
 */
#ifndef SIM_RDMA_NETWORK_PATH_H
#define SIM_RDMA_NETWORK_PATH_H

#include <stdint.h>

struct sim_session;

/* If the path between the functions @from and @to is down: the session time at which to look again. Else 0. */
uint64_t sim_network_path_retry_ns(const struct sim_session *session, uint32_t from, uint32_t to);

#endif
