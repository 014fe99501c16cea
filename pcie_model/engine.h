/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/engine.h - a DMA engine behind a link: when a job starts and when it is done.
 *
 *    queue            engine              channel           path, link          channel
 *  [submit] --> [accept: one at a time] -> [set-up] -> [ data, first come ] -> [complete] --> done
 *          arrival   for all queues       one of some   for all channels      a delay only
 *
 * A queue's issuer (a core, a DPA unit) spends time on each job, so one queue alone
 * has a limit of its own. The engine accepts jobs one after the other. A
 * channel sets a job up, then holds it until its data has moved, at the channel's
 * own pace at best. All channels share the paths that data takes: what the engine
 * reads of the host, what it writes there, what it copies within the card; and
 * the link's two directions. Completion delays a job and holds nothing.
 *
 * Each station serves first come, first served, in the order in which jobs are
 * handed in: a job gets the first time at which the station is free for good,
 * nothing that is handed in later gets in front, and gaps that were
 * left are not filled. That makes it a handful of additions per job, and exact to
 * repeat. It holds as long as jobs are handed in by their arrival:
 *
 *   arrival = pcie_queue_submit(..., now, &queue)      when the program submits; no lock
 *   pcie_engine_run(..., arrival, &engine, &link)      when the clock reaches the arrival; one lock
 *
 * Who calls the second at once, though the arrival is still to come, reserves the
 * engine up to then: others' jobs wait behind it for longer than they need to.
 * Who calls it late, after jobs that arrived later, is served behind those.
 *
 * State, and sharing it: the three states below are plain 64-bit numbers without
 * pointers, each "busy until", in picoseconds of one clock that starts at
 * 0. All zero is idle; setting them to zero is a reset. They can stand in
 * memory that processes share:
 * - one pcie_queue_state a queue, used by its own thread alone; one
 *   pcie_engine_state an engine; one pcie_link_state a link, for all its engines;
 * - pcie_engine_run() takes no lock and reads no clock: its caller holds one lock
 *   over the engine's and the link's state;
 * - who dies between two calls leaves stations busy for as long as its jobs
 *   would have taken; who dies within one, leaves some with the new time, others
 *   with the old: both are valid;
 * - any bit pattern is a valid state: none makes the model read or write
 *   elsewhere, or loop. A time in the far future is waited for; sums stop at
 *   UINT64_MAX (213 days).
 */
#ifndef PCIE_ENGINE_H
#define PCIE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "link.h"

#define PCIE_MAX_CHANNELS 32

/* Where a job's bytes come from and go to. */
enum pcie_direction {
	PCIE_READ = 0,  /* from the host to the card */
	PCIE_WRITE = 1, /* from the card to the host */
	PCIE_LOCAL = 2, /* within the card's memory; the link sees nothing of it */
	PCIE_HOST = 3,  /* from the host to the host: read and written at once */
};

/* Who hands jobs in. */
enum pcie_issuer_kind {
	PCIE_ISSUER_CPU = 0, /* a core, of the host or of the card */
	PCIE_ISSUER_DPA = 1, /* an execution unit of the card's data path accelerator */
	PCIE_NUM_ISSUERS,
};

/* What a job costs its issuer: software, mostly. */
struct pcie_issuer {
	uint64_t submit_ps; /* to hand it in */
	uint64_t report_ps; /* to learn of its end; none for unsignaled jobs */
	uint64_t accept_ps; /* between two jobs of all issuers of this kind together */
};

/* A path that data takes in the engine, besides the link. */
struct pcie_path {
	uint64_t gap_ps;      /* to turn to a job: it moves nothing meanwhile */
	uint64_t fs_per_byte; /* femtoseconds per byte: its own ceiling; 0 = none */
};

/* An engine. A time that is 0 costs nothing. */
struct pcie_engine {
	struct pcie_issuer issuers[PCIE_NUM_ISSUERS];
	uint64_t accept_ps;           /* between two jobs: its limit on jobs per second */
	uint64_t setup_ps;            /* from acceptance to the first byte */
	uint64_t segment_ps;          /* more, for each segment behind the first one */
	uint64_t complete_ps;         /* from the last byte to the completion in the issuer's hand */
	uint64_t channel_fs_per_byte; /* what one job alone can reach; 0 = no limit */
	uint32_t channels;            /* jobs that move data at a time: 1 to PCIE_MAX_CHANNELS */
	uint32_t max_reads;           /* read requests on the link at a time; 0 = no limit */
	uint64_t read_request_ps;     /* how long one is out; counts only with @max_reads */
	struct pcie_path read, write, local;
};

struct pcie_engine_state {
	uint64_t accept_ps;
	uint64_t issuers_ps[PCIE_NUM_ISSUERS];
	uint64_t read_ps, write_ps, local_ps;
	uint64_t channels_ps[PCIE_MAX_CHANNELS];
};

struct pcie_link_state {
	uint64_t tx_ps, rx_ps;
};

struct pcie_queue_state {
	uint64_t submit_ps;
};

struct pcie_job {
	enum pcie_direction direction;
	enum pcie_issuer_kind issuer;
	uint64_t bytes;    /* up to PCIE_LINK_MAX_BYTES */
	uint64_t offset;   /* of its memory on the host behind a boundary, pcie_link_read(); 0 = aligned */
	uint32_t segments; /* of both lists together, less one; 0 counts as 1 */
	bool unsignaled;   /* its end is not reported by itself */
};

/* What happens to a job, in order. */
struct pcie_times {
	uint64_t accepted_ps;
	uint64_t data_ps;  /* its first byte moves ... */
	uint64_t moved_ps; /* ... and the last one is there */
	uint64_t done_ps;  /* its issuer can know */
};

/* Why @engine is none that can be, in a few words for a message; NULL: it is fine.
 * The functions below assume that it is, and the link too. */
const char *pcie_engine_config_error(const struct pcie_engine *engine);

/* The queue's issuer hands @job in at @now_ps, behind those that it handed in before.
 * Returns when it arrives at the engine. */
uint64_t pcie_queue_submit(const struct pcie_engine *engine, const struct pcie_job *job, uint64_t now_ps,
			   struct pcie_queue_state *queue);

/* @job arrives at @arrival_ps. Fills in @ret_times and moves both states on. Jobs
 * may be done in another order than they arrived in. */
void pcie_engine_run(const struct pcie_engine *engine, const struct pcie_link *link, const struct pcie_job *job,
		     uint64_t arrival_ps, struct pcie_engine_state *engine_state, struct pcie_link_state *link_state,
		     struct pcie_times *ret_times);

/* How long @job takes, from its submission on, when nothing else is there. */
uint64_t pcie_engine_unloaded_ps(const struct pcie_engine *engine, const struct pcie_link *link,
				 const struct pcie_job *job);

#endif
