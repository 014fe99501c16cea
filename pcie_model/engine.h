/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/engine.h - a DMA engine behind a link: when a job starts and when it is done.
 *
 *    queue            engine              channel           path, link          channel
 *  [submit] --> [accept: one at a time] -> [set-up] -> [ data, first come ] -> [complete] --> done
 *          arrival   for all queues       one of some   for all channels      a delay only
 *
 * A queue's issuer (a core, a DPA unit) spends time on each job, which limits the rate of one queue. The
 * engine accepts jobs one after the other. A channel sets up a job and is then busy until the job's data
 * has moved, at most at the channel's own rate. All channels share the data paths (reads from the
 * host, writes to the host, copies within the card) and the two directions of the link.
 * Completion delays a job and occupies nothing.
 *
 * A card's other engines (SHA, compression, ...) are one station each, between acceptance and completion: the job says how long
 * it occupies the station. It waits for a link that is busy if its memory is the host's, and does not occupy it, as what
 * was measured includes the link.
 *
 * Each station serves jobs in the order of the calls: a job starts when the station has finished all earlier
 * jobs. Idle gaps before a job that starts late are not filled by later jobs. So a job takes a few
 * additions, and results are reproducible. The model is valid if jobs run in the order of
 * their arrival:
 *
 *   arrival = pcie_queue_submit(..., now, &queue)      when the program submits; no lock
 *   pcie_engine_run(..., arrival, &engine, &link)      when the clock reaches the arrival; one lock
 *
 * An early call of pcie_engine_run(), before the clock reaches the arrival, reserves the engine up to the arrival
 * and delays other jobs too much. A late call, after calls for later arrivals, puts the job behind those.
 *
 * The three states below are plain 64-bit numbers, each the time until which a station is busy, in
 * picoseconds of a clock that starts at 0. All zero means idle. States can be in memory that processes
 * share:
 * - There is one pcie_queue_state for each queue, used by one thread; one pcie_engine_state for each engine;
 *   one pcie_link_state for each link, shared by all its engines.
 * - pcie_engine_run() takes no lock and reads no clock. Its caller holds one lock for both states.
 * - A process that dies between two calls leaves stations busy until its jobs would have ended. A process that
 *   dies within a call leaves a mix of old and new times, which is valid.
 * - Any bit pattern is a valid state: none causes an access elsewhere or an endless loop. A time in the
 *   far future delays jobs; sums saturate at UINT64_MAX (213 days).
 */
#ifndef PCIE_ENGINE_H
#define PCIE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "link.h"

#define PCIE_MAX_CHANNELS 32

/* Source and destination of a job's bytes. */
enum pcie_direction {
	PCIE_READ = 0,  /* host to card */
	PCIE_WRITE = 1, /* card to host */
	PCIE_LOCAL = 2, /* within the card's memory; does not use the link */
	PCIE_HOST = 3,  /* host to host: a read and a write at the same time */
};

/* Kinds of stations of a card that do the work of jobs, between acceptance and completion. */
enum pcie_station {
	PCIE_STATION_DMA = 0, /* channels, data paths and the link: the job's bytes say for how long */
	PCIE_STATION_ACCEL,   /* an accelerator, which has one job at a time; unit: below PCIE_MAX_ACCELS */
};

/* Kinds of processors that submit jobs. */
enum pcie_issuer_kind {
	PCIE_ISSUER_CPU = 0, /* a core, of the host or of the card */
	PCIE_ISSUER_DPA = 1, /* an execution unit of the card's data path accelerator */
	PCIE_NUM_ISSUERS,
};

/* Time that a job costs its issuer, mostly for software. */
struct pcie_issuer {
	uint64_t submit_ps; /* to submit it */
	uint64_t report_ps; /* to handle its completion; not for unsignaled jobs */
	uint64_t accept_ps; /* least time between two jobs of all issuers of this kind */
};

/* A data path of the engine, besides the link. */
struct pcie_path {
	uint64_t gap_ps;      /* fixed time for each job, in which no bytes move */
	uint64_t fs_per_byte; /* femtoseconds per byte, its highest rate; 0 = no limit */
};

/* An engine. Times may be 0. */
struct pcie_engine {
	struct pcie_issuer issuers[PCIE_NUM_ISSUERS];
	uint64_t accept_ps;           /* least time between two jobs: limits jobs per second */
	uint64_t setup_ps;            /* from acceptance to the first byte */
	uint64_t segment_ps;          /* added for each segment after the first */
	uint64_t complete_ps;         /* from the last byte to the completion at the issuer */
	uint64_t channel_fs_per_byte; /* highest rate of one job; 0 = no limit */
	uint32_t channels;            /* jobs that move data concurrently: 1 to PCIE_MAX_CHANNELS */
	uint32_t max_reads;           /* outstanding read requests on the link; 0 = no limit */
	uint64_t read_request_ps;     /* time that a read request is outstanding; used with @max_reads only */
	struct pcie_path read, write, local;
};

/* Other engines of a card, each of which works on one job at a time. */
#define PCIE_MAX_ACCELS 16

struct pcie_engine_state {
	uint64_t accels_ps[PCIE_MAX_ACCELS];
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
	uint64_t offset;   /* of its host memory from an aligned address, as for pcie_link_read(); 0 = aligned */
	uint32_t segments; /* of both lists together, minus one; 0 counts as 1 */
	bool unsignaled;   /* has no completion of its own */
	enum pcie_station station; /* does the work; 0 = the DMA engine */
	/* For a station besides that. */
	bool is_sized_by_run; /* @busy_ps is known when the job has run */
	uint32_t unit;        /* which one of that kind */
	uint64_t busy_ps;     /* how long it works on the job */
};

/* Times of a job, in order. */
struct pcie_times {
	uint64_t accepted_ps;
	uint64_t data_ps;  /* the first byte moves */
	uint64_t moved_ps; /* the last byte has arrived */
	uint64_t done_ps;  /* the completion is visible to the issuer */
};

/* Why @engine is invalid, as a text for a message; NULL = valid. The functions below require a valid engine and a
 * valid link. */
const char *pcie_engine_config_error(const struct pcie_engine *engine);

/* Submit @job at @now_ps, after the queue's earlier jobs. Returns its time of arrival at the engine. */
uint64_t pcie_queue_submit(const struct pcie_engine *engine, const struct pcie_job *job, uint64_t now_ps,
			   struct pcie_queue_state *queue);

/* Run @job, which arrives at @arrival_ps: fills in @ret_times and advances both states. Jobs may complete in
 * another order than that of their arrival. */
void pcie_engine_run(const struct pcie_engine *engine, const struct pcie_link *link, const struct pcie_job *job,
		     uint64_t arrival_ps, struct pcie_engine_state *engine_state, struct pcie_link_state *link_state,
		     struct pcie_times *ret_times);

/* The time from submission to completion of @job on an idle engine and link. */
uint64_t pcie_engine_unloaded_ps(const struct pcie_engine *engine, const struct pcie_link *link,
				 const struct pcie_job *job);

#endif
