/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections and their messages: statistics and records. */
#include "trace_priv.h"

#define self sim_trace_self

uint64_t sim_trace_new_stream_id(void)
{
	return sim_trace_is_on() ? self.token + 2 * atomic_fetch_add(&self.num_streams, 1) : 0;
}

void sim_trace_message(enum sim_trace_kind kind, uint32_t object, uint64_t stream, uint64_t number, uint64_t bytes,
		       uint64_t at_ns, uint64_t task_ns)
{
	struct sim_trace_record record = {
		.time_ns = at_ns,
		.kind = (uint8_t)kind,
		.subject = object,
		.data.message = { .stream = stream, .number = number, .bytes = bytes, .task_ns = task_ns }
	};

	if (object)
		sim_trace_write(SIM_TRACE_RING_THREADS, &record, 1);
}

static void record_connection(const struct sim_trace_conn_stats *stats, enum sim_trace_kind kind, uint32_t reason)
{
	struct sim_trace_record record = {
		.time_ns = sim_trace_now_ns(), .kind = (uint8_t)kind, .subject = stats->number, .reason = reason
	};

	atomic_store_explicit(&stats->object->state, kind == SIM_TRACE_OPENED, memory_order_relaxed);
	sim_trace_write(SIM_TRACE_RING_LIFECYCLE, &record, 1);
}

void sim_trace_conn_stats_open(struct sim_trace_conn_stats *stats, uint32_t parent, const char *name,
			       const char *device, uint64_t tx_stream_id, uint64_t rx_stream_id)
{
	*stats = (struct sim_trace_conn_stats){ .number = sim_trace_object_new(SIM_TRACE_CONNECTION, parent, name,
									       device),
						.tx_stream_id = tx_stream_id,
						.rx_stream_id = rx_stream_id };
	if (stats->number == 0)
		return;
	stats->object = sim_trace_object_at(stats->number);
	sim_trace_sampler_init(&stats->sampler, self.head.level == SIM_TRACE_FULL);
	stats->sampler.next = self.head.level == SIM_TRACE_COUNTS ? SIM_TRACE_NEVER : stats->object->sent;
	record_connection(stats, SIM_TRACE_OPENED, 0);
}

void sim_trace_conn_stats_close(struct sim_trace_conn_stats *stats, const char *reason)
{
	if (!stats->object)
		return;
	record_connection(stats, SIM_TRACE_CLOSED, reason ? sim_trace_intern_name(reason) : 0);
	sim_trace_object_end(stats->number);
	stats->object = NULL;
}

void sim_trace_conn_stats_sent(struct sim_trace_conn_stats *stats, uint64_t number, uint64_t bytes, uint64_t at_ns)
{
	struct sim_trace_object *object = stats->object;

	if (!object)
		return;
	if (at_ns) {
		sim_trace_sampler_advance(&stats->sampler, atomic_load_explicit(&object->sent, memory_order_relaxed),
					  at_ns);
		sim_trace_message(SIM_TRACE_SENT, stats->number, stats->tx_stream_id, number, bytes, at_ns,
				  stats->task_ns);
	}
	sim_trace_counter_add(&object->sent, 1);
	sim_trace_counter_add(&object->sent_bytes, bytes);
}

void sim_trace_conn_stats_received(struct sim_trace_conn_stats *stats, uint64_t number, uint64_t bytes, bool is_sampled)
{
	if (!stats->object)
		return;
	if (is_sampled)
		sim_trace_message(SIM_TRACE_RECEIVED, stats->number, stats->rx_stream_id, number, bytes,
				  sim_trace_now_ns(), 0);
	sim_trace_counter_add(&stats->object->received, 1);
	sim_trace_counter_add(&stats->object->received_bytes, bytes);
}
