/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/format.h - the memory layout of a recording, which one process writes and others read.
 *
 *   head | names | objects | operations | threads | rings, each: its head and its records
 *
 * A recording is a segment (sim/shm/segment.h). The process creates the segment and passes it to the
 * session's daemon, so the recording outlives the process. The head gives the size of each table, which
 * never changes. Entries of tables are used from the first on and are not removed: a number of an entry
 * has one meaning for the recording's life; 0 = none.
 *
 * Objects are contexts and connections. Operations are the kinds of tasks of a context. Their counters
 * are exact, whether or not each task is recorded. When the table of objects is full, a new object
 * takes over the entry of an ended object of its kind, name and device, and the counters
 * continue. If there is none, the object shares the last entry, whose counters are
 * not exact: several threads may write them.
 *
 * A record is written when its event is over and holds the event's times: session time, counted from
 * the session's begin by CLOCK_MONOTONIC. Unless session time is virtual, this equals CLOCK_MONOTONIC.
 * Many events may have the same time; a ring keeps them in their order. Record i of a ring, counted
 * from 0, is at i % num_records, and is complete if its number is i + 1. The writer clears
 * that number before it overwrites the record. The newest records replace the oldest. States and connections, faults, and log lines have a ring each, so that tasks do not
 * push them out.
 *
 * Readers trust nothing: any process may write, also while they read (recording.h).
 */
#ifndef SIM_TRACE_FORMAT_H
#define SIM_TRACE_FORMAT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_TRACE_MAGIC            UINT64_C(0x31636172742d6662) /* "bf-trac1" */
#define SIM_TRACE_NAME_SIZE        64
#define SIM_TRACE_THREAD_NAME_SIZE 16

/* Readers refuse a recording with larger tables. */
#define SIM_TRACE_MAX_NAMES   4096
#define SIM_TRACE_MAX_OBJECTS 65536
#define SIM_TRACE_MAX_OPS     65536
#define SIM_TRACE_MAX_THREADS 4096
#define SIM_TRACE_MAX_RINGS   256
#define SIM_TRACE_MAX_RECORDS (UINT32_C(1) << 22) /* in all rings */

enum sim_trace_kind {
	/* subject; data */
	SIM_TRACE_STATE = 1, /* context; state */
	SIM_TRACE_TASK,      /* operation; task; the record's time is the submission, 0 = unknown */
	SIM_TRACE_SENT,      /* context or connection; message */
	SIM_TRACE_RECEIVED,  /* context or connection; message */
	SIM_TRACE_OPENED,    /* connection; none */
	SIM_TRACE_CLOSED,    /* connection; none; reason: why it was closed */
	SIM_TRACE_FAULT,     /* object or 0; fault; reason: the operation's name in rules */
	SIM_TRACE_LOG,       /* object or 0; text */
	SIM_TRACE_TEXT,      /* none; text: continues the text of the record before */
	SIM_TRACE_HIT,       /* none; text: what the checker reported; reason: the rule's id */
	SIM_TRACE_NUM_KINDS,
};

/* The direction of a task's bytes over the card's link to its host. */
enum sim_trace_direction {
	SIM_TRACE_DIRECTION_NONE, /* not over the link, or unknown */
	SIM_TRACE_DIRECTION_TO_CARD,
	SIM_TRACE_DIRECTION_TO_HOST,
	SIM_TRACE_DIRECTION_HOST_TO_HOST, /* host memory to host memory: both directions */
	SIM_TRACE_NUM_DIRECTIONS,
};

#define SIM_TRACE_TEXT_BYTES       32 /* of a log line, in one record */
#define SIM_TRACE_MAX_TEXT_RECORDS 8

/* Numbers of rings; SIM_TRACE_RING_THREADS is the first of the threads' rings. */
enum { SIM_TRACE_RING_LIFECYCLE, SIM_TRACE_RING_FAULTS, SIM_TRACE_RING_LOG, SIM_TRACE_RING_THREADS };

/* The clock of a recording's times, for its writer and its readers. */
struct sim_trace_clock {
	uint64_t zero_ns;                   /* begin of the session, by CLOCK_MONOTONIC */
	const _Atomic uint64_t *virtual_ns; /* session time since then; NULL = as CLOCK_MONOTONIC */
};

/* The part of a record that depends on its kind. */
union sim_trace_data {
	struct {
		uint64_t from, to; /* numbers of enum doca_ctx_states */
		uint64_t unused[2];
	} state;
	struct {
		uint64_t began_ns, ended_ns; /* of its job; 0 = unknown */
		uint64_t reaped_ns;          /* when the program was told of its end */
		uint64_t bytes;
	} task;
	struct {
		uint64_t stream;
		uint64_t number; /* in the stream */
		uint64_t bytes;
		uint64_t task_ns; /* submission of the message's task; 0 = that task is not recorded */
	} message;
	struct {
		uint64_t rule;  /* its id */
		uint64_t match; /* which of this process's matches of the rule, counted from 1 */
		uint64_t bytes;
		uint64_t delay_ns;
	} fault;
	char text[SIM_TRACE_TEXT_BYTES]; /* padded with zero bytes; a full one has no zero byte */
};

struct sim_trace_record {
	_Atomic uint64_t number; /* counted from 1; 0 = being written */
	uint64_t time_ns;
	uint8_t kind;      /* enum sim_trace_kind */
	uint8_t direction; /* of tasks: enum sim_trace_direction */
	union {
		uint16_t in_flight; /* of tasks: tasks in flight at the submission, this one included; 0 = unknown */
		uint16_t log_level; /* of log lines: enum of sim/base/log.h */
		uint16_t severity;  /* of hits: enum sim_check_severity (sim/check/rules.h) */
	};
	uint32_t thread;  /* gettid() */
	uint32_t subject; /* number of an object or of an operation */
	uint32_t reason;  /* name of what went wrong; 0 = nothing */
	union sim_trace_data data;
};

struct sim_trace_ring {
	_Alignas(64) _Atomic uint64_t num_written; /* records begun so far */
	_Alignas(64) struct sim_trace_record records[];
};

struct sim_trace_thread {
	uint32_t id; /* gettid() */
	char name[SIM_TRACE_THREAD_NAME_SIZE];
};

enum sim_trace_object_kind {
	SIM_TRACE_CONTEXT = 1,
	SIM_TRACE_CONNECTION,
};

/* One thread at a time writes the counters. */
struct sim_trace_object {
	uint32_t kind;             /* enum sim_trace_object_kind */
	uint32_t parent;           /* object; 0 = none */
	uint32_t name;             /* number of its name */
	uint32_t device;           /* number of the device's name; 0 = none */
	_Atomic uint32_t state;    /* of contexts: enum doca_ctx_states' number; of connections: 1 = open */
	_Atomic uint32_t num_uses; /* objects that have used this entry */
	uint64_t began_ns;
	_Atomic uint64_t ended_ns;                                   /* 0 = not ended */
	_Atomic uint64_t sent, sent_bytes, received, received_bytes; /* messages */
	_Atomic uint64_t num_late, max_late_ns; /* tasks in timed mode that the machine completed late, and the worst */
};

struct sim_trace_op {
	_Alignas(64) uint32_t object;
	uint32_t name;
	_Atomic uint64_t submitted, completed, failed;
	_Atomic uint64_t bytes;                 /* of completed tasks */
	_Atomic uint64_t num_timed, latency_ns; /* sampled tasks that ended, and the sum of their times */
};

/* Objects that programs close, besides contexts. */
enum sim_trace_open {
	SIM_TRACE_OPEN_MAPS,
	SIM_TRACE_OPEN_INVENTORIES,
	SIM_TRACE_OPEN_ENGINES, /* work queues, too */
	SIM_TRACE_OPEN_DEVICES,
	SIM_TRACE_NUM_OPEN,
};

/* Data paths (sim/fabric/path.h). */
enum sim_trace_path {
	SIM_TRACE_PATH_IN_PLACE,
	SIM_TRACE_PATH_MAPPED,
	SIM_TRACE_PATH_CMA,
	SIM_TRACE_PATH_SHM,
	SIM_TRACE_PATH_TCP,
	SIM_TRACE_PATH_PROCMEM,
	SIM_TRACE_NUM_PATHS,
};

struct sim_trace_head {
	uint64_t magic;
	uint32_t level; /* enum sim_trace_level (trace.h) */
	uint32_t num_names, num_objects, num_ops, num_threads, num_rings,
		num_records; /* sizes of the tables; num_records: of each ring */
	int32_t pid;
	uint64_t began_ns; /* by CLOCK_MONOTONIC, also in virtual time: tells apart processes with one pid */
	_Atomic uint32_t used_names, used_objects, used_ops, used_threads;
	_Atomic uint32_t command; /* the process is this command of "bfsim run", from 1; 0 = none */
	_Atomic uint32_t num_open[SIM_TRACE_NUM_OPEN];
	_Atomic uint32_t paths; /* data paths of its imports: bits 1 << enum sim_trace_path */
};

/* Offsets of the tables in the segment; @end is its size. */
struct sim_trace_layout {
	size_t names, objects, ops, threads, rings, ring_bytes, end;
};

static inline struct sim_trace_layout sim_trace_layout_of(const struct sim_trace_head *head)
{
	struct sim_trace_layout layout = { .names = 128 };

	layout.objects = layout.names + (size_t)head->num_names * SIM_TRACE_NAME_SIZE;
	layout.ops = (layout.objects + head->num_objects * sizeof(struct sim_trace_object) + 63) / 64 * 64;
	layout.threads = layout.ops + head->num_ops * sizeof(struct sim_trace_op);
	layout.rings = (layout.threads + head->num_threads * sizeof(struct sim_trace_thread) + 63) / 64 * 64;
	layout.ring_bytes = sizeof(struct sim_trace_ring) + head->num_records * sizeof(struct sim_trace_record);
	layout.end = layout.rings + head->num_rings * layout.ring_bytes;
	return layout;
}

_Static_assert(sizeof(union sim_trace_data) == 32, "every kind's data fits in half a record");
_Static_assert(offsetof(struct sim_trace_record, data) == 32, "the layout of records is the file format");
_Static_assert(offsetof(struct sim_trace_record, in_flight) == 18 && offsetof(struct sim_trace_record, thread) == 20,
	       "the layout of records is the file format");
_Static_assert(sizeof(struct sim_trace_record) == 64, "a record is a cache line");
_Static_assert(sizeof(struct sim_trace_op) == 64, "an operation is a cache line");
_Static_assert(sizeof(struct sim_trace_head) <= 128, "the names begin after the head");

#endif
