/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/export/flows.h - relations between events: sent and received messages, messages and their tasks. */
#ifndef SIM_TRACE_FLOWS_H
#define SIM_TRACE_FLOWS_H

#include "merged_trace.h"

/* For each event of a sorted merged trace: the number of its flow, from 1, the same for the sending and the receipt of a
 * message if both were recorded; else 0. The caller frees the array. NULL if out of memory. */
uint32_t *sim_flows_match_messages(const struct sim_merged_trace *merged);

/* For each event of a sorted merged trace: the event, counted from 1, of the task that sent the message or, on the fast
 * path, received it, if it was recorded; else 0. The caller frees the array. NULL if out of memory. */
uint32_t *sim_flows_match_tasks(const struct sim_merged_trace *merged);

#endif
