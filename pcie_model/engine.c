/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"

#include <stddef.h>

#include "u128_priv.h"

#define FS_PER_PS 1000

/* What a job needs of each station that all share, in picoseconds. */
struct need {
	uint64_t read_ps, write_ps, local_ps;
	uint64_t tx_ps, rx_ps;
	uint64_t channel_ps;
	bool reads, writes, is_local;
};

/* Sums stop at the end of time instead of starting over. */
static uint64_t later(uint64_t time_ps, uint64_t by_ps)
{
	return by_ps > UINT64_MAX - time_ps ? UINT64_MAX : time_ps + by_ps;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

const char *pcie_engine_fault(const struct pcie_engine *engine)
{
	if (engine->channels < 1 || engine->channels > PCIE_MAX_CHANNELS)
		return "an engine has 1 to 32 channels";
	if (engine->max_reads > 0 && engine->read_request_ps == 0)
		return "a limit on read requests needs to know how long one is out";
	return NULL;
}

/* A station that serves one after the other: from when on it serves this one. */
static uint64_t take_turn(uint64_t *station_ps, uint64_t arrival_ps, uint64_t busy_ps)
{
	uint64_t start_ps = larger(*station_ps, arrival_ps);

	*station_ps = later(start_ps, busy_ps);
	return start_ps;
}

static uint64_t moving_ps(uint64_t fs_per_byte, uint64_t bytes)
{
	return pcie_scale_up(bytes, fs_per_byte, FS_PER_PS);
}

/* Reads wait for requests whose answers are on their way. */
static uint64_t requests_ps(const struct pcie_engine *engine, uint64_t requests)
{
	return engine->max_reads > 0 ? pcie_scale_up(requests, engine->read_request_ps, engine->max_reads) : 0;
}

static void need_read(const struct pcie_engine *engine, const struct pcie_link *link, const struct pcie_pace *pace,
		      const struct pcie_job *job, struct need *need)
{
	struct pcie_wire wire;
	uint64_t busy_ps, tx_ps;

	pcie_link_read(link, job->offset, job->bytes, &wire);
	tx_ps = pcie_pace_ps(pace, wire.tx_bytes);
	need->rx_ps = pcie_pace_ps(pace, wire.rx_bytes);
	busy_ps = larger(moving_ps(engine->read.fs_per_byte, job->bytes), requests_ps(engine, wire.tx_tlps));
	busy_ps = larger(busy_ps, larger(tx_ps, need->rx_ps));
	need->reads = true;
	need->read_ps = later(busy_ps, engine->read.gap_ps);
	need->tx_ps = later(need->tx_ps, tx_ps);
}

static void need_write(const struct pcie_engine *engine, const struct pcie_link *link, const struct pcie_pace *pace,
		       const struct pcie_job *job, struct need *need)
{
	struct pcie_wire wire;
	uint64_t tx_ps;

	pcie_link_write(link, job->offset, job->bytes, &wire);
	tx_ps = pcie_pace_ps(pace, wire.tx_bytes);
	need->writes = true;
	need->write_ps = later(larger(moving_ps(engine->write.fs_per_byte, job->bytes), tx_ps), engine->write.gap_ps);
	need->tx_ps = later(need->tx_ps, tx_ps);
}

static struct need work_out(const struct pcie_engine *engine, const struct pcie_link *link, const struct pcie_job *job)
{
	struct need need = {.channel_ps = moving_ps(engine->channel_fs_per_byte, job->bytes)};
	struct pcie_pace pace;

	if (job->direction == PCIE_LOCAL) {
		need.is_local = true;
		need.local_ps = later(moving_ps(engine->local.fs_per_byte, job->bytes), engine->local.gap_ps);
		return need;
	}
	pace = pcie_link_pace(link);
	if (job->direction != PCIE_WRITE)
		need_read(engine, link, &pace, job, &need);
	if (job->direction != PCIE_READ)
		need_write(engine, link, &pace, job, &need);
	return need;
}

uint64_t pcie_queue_submit(const struct pcie_engine *engine, const struct pcie_job *job, uint64_t now_ps,
			   struct pcie_queue_state *queue)
{
	const struct pcie_issuer *issuer = &engine->issuers[job->issuer];
	uint64_t busy_ps = later(issuer->submit_ps, job->quiet ? 0 : issuer->report_ps);

	return later(take_turn(&queue->submit_ps, now_ps, busy_ps), issuer->submit_ps);
}

static uint64_t take_in(const struct pcie_engine *engine, const struct pcie_job *job, uint64_t arrival_ps,
		       struct pcie_engine_state *state)
{
	uint64_t at_ps = take_turn(&state->issuers_ps[job->issuer], arrival_ps, engine->issuers[job->issuer].accept_ps);

	return take_turn(&state->accept_ps, at_ps, engine->accept_ps);
}

/* The channel that is free first; of several, the one with the lowest number. */
static uint64_t *first_channel(const struct pcie_engine *engine, struct pcie_engine_state *state)
{
	uint64_t *first_ps = &state->channels_ps[0];

	for (uint32_t i = 1; i < engine->channels; i++) {
		if (state->channels_ps[i] < *first_ps)
			first_ps = &state->channels_ps[i];
	}
	return first_ps;
}

/* When all that the job needs is free. A read's requests find their way between writes: they do not wait for TX. */
static uint64_t first_byte(const struct need *need, uint64_t ready_ps, const struct pcie_engine_state *state,
			   const struct pcie_link_state *link)
{
	if (need->is_local)
		return larger(ready_ps, state->local_ps);
	if (need->reads)
		ready_ps = larger(larger(ready_ps, state->read_ps), link->rx_ps);
	if (need->writes)
		ready_ps = larger(larger(ready_ps, state->write_ps), link->tx_ps);
	return ready_ps;
}

/* Hold what the job needs from @start_ps on; returns when its last byte has moved. */
static uint64_t move(const struct need *need, uint64_t start_ps, struct pcie_engine_state *state,
		     struct pcie_link_state *link)
{
	uint64_t end_ps = later(start_ps, larger(need->channel_ps, need->local_ps));

	end_ps = larger(end_ps, later(start_ps, larger(need->read_ps, need->write_ps)));
	if (need->is_local) {
		take_turn(&state->local_ps, start_ps, need->local_ps);
		return end_ps;
	}
	if (need->reads) {
		take_turn(&state->read_ps, start_ps, need->read_ps);
		take_turn(&link->rx_ps, start_ps, need->rx_ps);
	}
	if (need->writes)
		take_turn(&state->write_ps, start_ps, need->write_ps);
	take_turn(&link->tx_ps, start_ps, need->tx_ps);
	return end_ps;
}

void pcie_engine_run(const struct pcie_engine *engine, const struct pcie_link *link, const struct pcie_job *job,
		     uint64_t arrival_ps, struct pcie_engine_state *engine_state, struct pcie_link_state *link_state,
		     struct pcie_times *ret_times)
{
	struct need need = work_out(engine, link, job);
	uint64_t more_segments = job->segments > 1 ? job->segments - 1 : 0;
	uint64_t setup_ps = later(engine->setup_ps, pcie_scale_up(more_segments, engine->segment_ps, 1));
	uint64_t accepted_ps = take_in(engine, job, arrival_ps, engine_state);
	uint64_t *channel_ps = first_channel(engine, engine_state);
	uint64_t ready_ps = later(larger(accepted_ps, *channel_ps), setup_ps);
	uint64_t data_ps = first_byte(&need, ready_ps, engine_state, link_state);
	uint64_t moved_ps = move(&need, data_ps, engine_state, link_state);

	*channel_ps = moved_ps;
	*ret_times = (struct pcie_times){
		.accepted_ps = accepted_ps,
		.data_ps = data_ps,
		.moved_ps = moved_ps,
		.done_ps = later(moved_ps, engine->complete_ps),
	};
}

uint64_t pcie_engine_alone_ps(const struct pcie_engine *engine, const struct pcie_link *link,
			      const struct pcie_job *job)
{
	struct pcie_engine_state engine_state = {0};
	struct pcie_link_state link_state = {0};
	struct pcie_queue_state queue_state = {0};
	struct pcie_times times;

	pcie_engine_run(engine, link, job, pcie_queue_submit(engine, job, 0, &queue_state), &engine_state, &link_state,
			&times);
	return times.done_ps;
}
