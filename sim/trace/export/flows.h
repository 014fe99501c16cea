/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/export/flows.h - what led to what: which message received is which message sent, and what task it was of. */
#ifndef SIM_TRACE_FLOWS_H
#define SIM_TRACE_FLOWS_H

#include "merged_trace.h"

/* For each event of a sorted merged trace: the number of its flow, from 1 on; the same for the
 * sending and the receipt of one message, if both were recorded; else 0. The caller
 * frees it; NULL without memory. */
uint32_t *sim_flows_match_messages(const struct sim_merged_trace *merged);

/* For each event of a sorted merged trace: if it is a message, the event (counted from 1) of the
 * task that sent it or, on the fast path, took it, if that was recorded; else 0. The caller frees it; NULL without memory. */
uint32_t *sim_flows_match_tasks(const struct sim_merged_trace *merged);

#endif
