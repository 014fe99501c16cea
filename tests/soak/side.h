/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/soak/side.h - a process of the soak: its device, its engine, its counters.
 *
 * A violated expectation prints a line and ends the process; the parent then fails
 * the run. Waits have a limit: SIDE_DEADLINE_MS without an event is a hang.
 */
#ifndef TESTS_SOAK_SIDE_H
#define TESTS_SOAK_SIDE_H

#include <sys/socket.h>
#include <sys/un.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "random.h"
#include "shared.h"

#define SIDE_DEADLINE_MS 60000
#define SIDE_GIVE_UP_MS  100  /* with a task that may hang */
#define SIDE_SETTLE_MS   1000 /* at the end */

struct side {
	int which;                  /* HOST, DPU */
	int listen_fd;              /* where the victim's side, or the DPU, connects to the other; -1 = we connect */
	struct sockaddr_un address; /* of that */
	socklen_t address_len;
	int ctl_fd;    /* to the other; -1 before the first */
	bool is_alone; /* the other was killed, and we know it */
	struct shared *shared;
	struct seen *seen; /* ours */
	uint64_t round;
	struct doca_dev *dev;
	struct doca_dev_rep *rep; /* DPU: of the host's function */
	struct doca_pe *pe;
};

/* ---- expectations ---- */

#define NEED(condition)                                                \
	do {                                                           \
		if (!(condition))                                      \
			side_fail(__FILE__, __LINE__, #condition, ""); \
	} while (0)

#define MUST(call)                                                                          \
	do {                                                                                \
		doca_error_t result_ = (call);                                              \
		if (result_ != DOCA_SUCCESS)                                                \
			side_fail(__FILE__, __LINE__, #call, doca_error_get_name(result_)); \
	} while (0)

/* Evaluate a call that may fail only if the other side was killed. Returns true on success. */
#define MUST_UNLESS_ALONE(side, call) side_went_well((side), (call), __FILE__, __LINE__, #call)

void side_fail(const char *file, int line, const char *what, const char *is) __attribute__((noreturn));
bool side_went_well(struct side *side, doca_error_t result, const char *file, int line, const char *call);

/* ---- the process ---- */

/* Play rounds until the parent sends stop. @start: its number, and listen_fd or the address to connect to. */
void side_run(const struct side *start, struct shared *shared);

/* Numbers of this round, the same on both sides. */
struct random side_random(const struct side *side, uint64_t purpose);

int64_t side_now_ms(void);

/* Open and close the device, the representor and the engine; their users are gone before they close. */
void side_dev_open(struct side *side);
void side_dev_close(struct side *side);

/* ---- control messages between the sides: whole, in order, while the engine progresses ----
 *
 *   side_join --> messages --the other is killed: alone--> the round ends --> side_join
 *
 * A side that is alone sends and receives nothing: side_recv() and side_meet() return false, and
 * the round ends what it has begun, as a program does after its peer is gone. The
 * next process of the other side joins before the next round. */

void side_join(struct side *side);
void side_send(struct side *side, const void *data, size_t len);
bool side_recv(struct side *side, void *data, size_t len); /* exactly so many bytes */
bool side_readable(struct side *side);                     /* does not wait; true also at the end of the stream */
bool side_meet(struct side *side);                         /* waits until both sides are here */
bool side_is_alone(struct side *side);                     /* checks whether the other was killed */

/* Progress the engine once, or sleep for a moment. Returns true if there was an event. */
bool side_step(struct side *side);

#define SIDE_UNTIL(side, condition)                                         \
	do {                                                                \
		int64_t start_ms_ = side_now_ms();                          \
		while (!(condition)) {                                      \
			if (side_step(side))                                \
				start_ms_ = side_now_ms();                  \
			NEED(side_now_ms() - start_ms_ < SIDE_DEADLINE_MS); \
		}                                                           \
	} while (0)

/* ---- accounts: each task is submitted and completed once ---- */

struct ticket {
	bool in_flight;
	uint64_t id;
};

/* Submit a task. Returns true if it was submitted; if not, the caller frees it. */
bool side_submit(struct side *side, struct doca_task *task, struct ticket *ticket);

/* In its callback. Returns its status. */
doca_error_t side_ended(struct side *side, struct doca_task *task, struct ticket *ticket);

/* The same; frees it. */
doca_error_t side_done(struct side *side, struct doca_task *task, struct ticket *ticket);

/* ---- contexts ---- */

/* Stop the context in any state, and progress until it is idle with no task in flight. */
void side_stop(struct side *side, struct doca_ctx *ctx);
enum doca_ctx_states side_state(struct doca_ctx *ctx);

/* ---- memory ---- */

struct side_memory {
	uint8_t *addr;
	size_t len;
	struct doca_mmap *mmap;
};

/* Anonymous memory, or such that has a descriptor, in a started map. */
void side_memory_open(struct side *side, size_t len, uint32_t access, bool shared, struct side_memory *ret_memory);
void side_memory_close(struct side_memory *memory);

/* ---- rounds, one file each; both sides play the same ---- */

void round_dma(struct side *side);
void round_messages(struct side *side);
void round_fast(struct side *side);
void round_events(struct side *side);
void round_maps(struct side *side);
void round_function(struct side *side);
void round_alloc(struct side *side);
void round_engines(struct side *side);
void round_rdma(struct side *side);

#endif
