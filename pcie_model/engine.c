/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines: cost of a job at each station, and reservation of stations. */
#include "engine.h"

#include <stddef.h>

#include "u128_priv.h"
#include "pcie_model/arith.h"

#define FS_PER_PS 1000

/* The time that a job needs at each shared station. */
struct job_cost {
	uint64_t read_ps, write_ps, local_ps;
	uint64_t tx_ps, rx_ps;
	uint64_t channel_ps;
	bool reads, writes, is_local;
};

const char *pcie_engine_config_error(const struct pcie_engine *engine)
{
	if (engine->channels < 1 || engine->channels > PCIE_MAX_CHANNELS)
		return "an engine has 1 to 32 channels";
	if (engine->max_reads > 0 && engine->read_request_ps == 0)
		return "a limit on read requests needs to know how long one is out";
	return NULL;
}

/* Reserve a station for a job. Returns the time at which its service starts. */
static uint64_t reserve_station(uint64_t *station_ps, uint64_t arrival_ps, uint64_t busy_ps)
{
	uint64_t start_ps = max_u64(*station_ps, arrival_ps);

	*station_ps = add_saturating_u64(start_ps, busy_ps);
	return start_ps;
}

static uint64_t transfer_time_ps(uint64_t fs_per_byte, uint64_t bytes)
{
	return pcie_mul_div_ceil(bytes, fs_per_byte, FS_PER_PS);
}

/* The time for read requests, of which max_reads can be outstanding. */
static uint64_t read_requests_time_ps(const struct pcie_engine *engine, uint64_t requests)
{
	return engine->max_reads > 0 ? pcie_mul_div_ceil(requests, engine->read_request_ps, engine->max_reads) : 0;
}

static void add_read_cost(const struct pcie_engine *engine, const struct pcie_link *link,
			  const struct pcie_byte_time *byte_time, const struct pcie_job *job, struct job_cost *cost)
{
	struct pcie_wire wire;
	uint64_t busy_ps, tx_ps;

	pcie_link_read(link, job->offset, job->bytes, &wire);
	tx_ps = pcie_tlp_time_ps(byte_time, wire.tx_bytes);
	cost->rx_ps = pcie_tlp_time_ps(byte_time, wire.rx_bytes);
	busy_ps = max_u64(transfer_time_ps(engine->read.fs_per_byte, job->bytes),
			  read_requests_time_ps(engine, wire.tx_tlps));
	busy_ps = max_u64(busy_ps, max_u64(tx_ps, cost->rx_ps));
	cost->reads = true;
	cost->read_ps = add_saturating_u64(busy_ps, engine->read.gap_ps);
	cost->tx_ps = add_saturating_u64(cost->tx_ps, tx_ps);
}

static void add_write_cost(const struct pcie_engine *engine, const struct pcie_link *link,
			   const struct pcie_byte_time *byte_time, const struct pcie_job *job, struct job_cost *cost)
{
	struct pcie_wire wire;
	uint64_t tx_ps;

	pcie_link_write(link, job->offset, job->bytes, &wire);
	tx_ps = pcie_tlp_time_ps(byte_time, wire.tx_bytes);
	cost->writes = true;
	cost->write_ps = add_saturating_u64(max_u64(transfer_time_ps(engine->write.fs_per_byte, job->bytes), tx_ps),
					    engine->write.gap_ps);
	cost->tx_ps = add_saturating_u64(cost->tx_ps, tx_ps);
}

static struct job_cost compute_cost(const struct pcie_engine *engine, const struct pcie_link *link,
				    const struct pcie_job *job)
{
	struct job_cost cost = { .channel_ps = transfer_time_ps(engine->channel_fs_per_byte, job->bytes) };
	struct pcie_byte_time byte_time;

	if (job->direction == PCIE_LOCAL) {
		cost.is_local = true;
		cost.local_ps = add_saturating_u64(transfer_time_ps(engine->local.fs_per_byte, job->bytes),
						   engine->local.gap_ps);
		return cost;
	}
	byte_time = pcie_link_byte_time(link);
	if (job->direction != PCIE_WRITE)
		add_read_cost(engine, link, &byte_time, job, &cost);
	if (job->direction != PCIE_READ)
		add_write_cost(engine, link, &byte_time, job, &cost);
	return cost;
}

uint64_t pcie_queue_submit(const struct pcie_engine *engine, const struct pcie_job *job, uint64_t now_ps,
			   struct pcie_queue_state *queue)
{
	const struct pcie_issuer *issuer = &engine->issuers[job->issuer];
	uint64_t busy_ps = add_saturating_u64(issuer->submit_ps, job->unsignaled ? 0 : issuer->report_ps);

	return add_saturating_u64(reserve_station(&queue->submit_ps, now_ps, busy_ps), issuer->submit_ps);
}

static uint64_t accept_job(const struct pcie_engine *engine, const struct pcie_job *job, uint64_t arrival_ps,
			   struct pcie_engine_state *state)
{
	uint64_t at_ps =
		reserve_station(&state->issuers_ps[job->issuer], arrival_ps, engine->issuers[job->issuer].accept_ps);

	return reserve_station(&state->accept_ps, at_ps, engine->accept_ps);
}

/* The channel that is free first; at equal times, the one with the lowest number. */
static uint64_t *find_earliest_channel(const struct pcie_engine *engine, struct pcie_engine_state *state)
{
	uint64_t *first_ps = &state->channels_ps[0];

	for (uint32_t i = 1; i < engine->channels; i++) {
		if (state->channels_ps[i] < *first_ps)
			first_ps = &state->channels_ps[i];
	}
	return first_ps;
}

/* The time at which all needed paths are free. Read requests interleave with writes and do not wait for TX. */
static uint64_t data_start_ps(const struct job_cost *cost, uint64_t ready_ps, const struct pcie_engine_state *state,
			      const struct pcie_link_state *link)
{
	if (cost->is_local)
		return max_u64(ready_ps, state->local_ps);
	if (cost->reads)
		ready_ps = max_u64(max_u64(ready_ps, state->read_ps), link->rx_ps);
	if (cost->writes)
		ready_ps = max_u64(max_u64(ready_ps, state->write_ps), link->tx_ps);
	return ready_ps;
}

/* Reserve the needed paths from @start_ps on. Returns the time at which the last byte has moved. */
static uint64_t reserve_paths(const struct job_cost *cost, uint64_t start_ps, struct pcie_engine_state *state,
			      struct pcie_link_state *link)
{
	uint64_t end_ps = add_saturating_u64(start_ps, max_u64(cost->channel_ps, cost->local_ps));

	end_ps = max_u64(end_ps, add_saturating_u64(start_ps, max_u64(cost->read_ps, cost->write_ps)));
	if (cost->is_local) {
		reserve_station(&state->local_ps, start_ps, cost->local_ps);
		return end_ps;
	}
	if (cost->reads) {
		reserve_station(&state->read_ps, start_ps, cost->read_ps);
		reserve_station(&link->rx_ps, start_ps, cost->rx_ps);
	}
	if (cost->writes)
		reserve_station(&state->write_ps, start_ps, cost->write_ps);
	reserve_station(&link->tx_ps, start_ps, cost->tx_ps);
	return end_ps;
}

/* The work of a station on a job: when its first byte moves, and when its last one has arrived. */
struct work_time {
	uint64_t data_ps, moved_ps;
};

static struct work_time run_accel_job(const struct pcie_job *job, uint64_t accepted_ps,
				      struct pcie_engine_state *engine_state, const struct pcie_link_state *link_state)
{
	uint64_t ready_ps = accepted_ps, data_ps;

	if (job->direction != PCIE_LOCAL)
		ready_ps = max_u64(ready_ps, max_u64(link_state->tx_ps, link_state->rx_ps));
	data_ps = reserve_station(&engine_state->accels_ps[job->unit], ready_ps, job->busy_ps);
	return (struct work_time){ data_ps, add_saturating_u64(data_ps, job->busy_ps) };
}

static struct work_time run_dma_job(const struct pcie_engine *engine, const struct pcie_link *link,
				    const struct pcie_job *job, uint64_t accepted_ps,
				    struct pcie_engine_state *engine_state, struct pcie_link_state *link_state)
{
	struct job_cost cost = compute_cost(engine, link, job);
	uint64_t more_segments = job->segments > 1 ? job->segments - 1 : 0;
	uint64_t setup_ps =
		add_saturating_u64(engine->setup_ps, pcie_mul_div_ceil(more_segments, engine->segment_ps, 1));
	uint64_t *channel_ps = find_earliest_channel(engine, engine_state);
	uint64_t ready_ps = add_saturating_u64(max_u64(accepted_ps, *channel_ps), setup_ps);
	uint64_t data_ps = data_start_ps(&cost, ready_ps, engine_state, link_state);
	uint64_t moved_ps = reserve_paths(&cost, data_ps, engine_state, link_state);

	*channel_ps = moved_ps;
	return (struct work_time){ data_ps, moved_ps };
}

static struct work_time run_at_station(const struct pcie_engine *engine, const struct pcie_link *link,
				       const struct pcie_job *job, uint64_t accepted_ps,
				       struct pcie_engine_state *engine_state, struct pcie_link_state *link_state)
{
	switch (job->station) {
	case PCIE_STATION_ACCEL:
		return run_accel_job(job, accepted_ps, engine_state, link_state);
	default:
		return run_dma_job(engine, link, job, accepted_ps, engine_state, link_state);
	}
}

void pcie_engine_run(const struct pcie_engine *engine, const struct pcie_link *link, const struct pcie_job *job,
		     uint64_t arrival_ps, struct pcie_engine_state *engine_state, struct pcie_link_state *link_state,
		     struct pcie_times *ret_times)
{
	uint64_t accepted_ps = accept_job(engine, job, arrival_ps, engine_state);
	struct work_time work = run_at_station(engine, link, job, accepted_ps, engine_state, link_state);

	*ret_times = (struct pcie_times){
		.accepted_ps = accepted_ps,
		.data_ps = work.data_ps,
		.moved_ps = work.moved_ps,
		.done_ps = add_saturating_u64(work.moved_ps, engine->complete_ps),
	};
}

uint64_t pcie_engine_unloaded_ps(const struct pcie_engine *engine, const struct pcie_link *link,
				 const struct pcie_job *job)
{
	struct pcie_engine_state engine_state = { 0 };
	struct pcie_link_state link_state = { 0 };
	struct pcie_queue_state queue_state = { 0 };
	struct pcie_times times;

	pcie_engine_run(engine, link, job, pcie_queue_submit(engine, job, 0, &queue_state), &engine_state, &link_state,
			&times);
	return times.done_ps;
}
