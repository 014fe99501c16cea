/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/near.h - memory of this machine that programs of other machines import.
 *
 *   IMPORT --job: the session's import--> [imported] --RELEASE, the machine is lost--> [ending] --no job any more--> freed
 *                                            |  '--its exporter ends the export--> REVOKED
 *                                            '--READ, WRITE, OPERATE--> DONE
 *
 * The daemon of this machine checks key and secret, the fabric checks bounds and rights. A request is done here and now if the path
 * to the memory cannot block (mapped, procmem, cma), else in a job, and so is an atomic operation.
 */
#ifndef SIM_GATEWAY_NEAR_H
#define SIM_GATEWAY_NEAR_H

#include "gateway.h"
#include "port_load.h"
#include "sim/fabric/remote.h"

struct sim_kick_target;

struct near {
	struct gateway *gateway;
	uint64_t handle;
	uint32_t machine; /* that imports it */
	struct sim_remote *remote;
	struct port_load load;
	bool is_quick; /* a copy can't block */
	bool is_ending;
	uint32_t num_jobs;
	atomic_bool is_revoked;
	struct outlet *outlet; /* of an inbox; else NULL */
	LIST_ENTRY(near) entry;
};

/* What an outlet needs besides the inbox. */
struct near_group {
	struct sim_remote *doorbells; /* NULL = none */
	uint32_t slot;
	int wake_fd;
	struct sim_kick_target *kick_target;
};

void near_on_import(struct gateway *gateway, const struct gateway_frame *frame);
void near_on_release(struct gateway *gateway, const struct gateway_frame *frame);
void near_on_records(struct gateway *gateway, const struct gateway_frame *frame);

/* Tell of imports that their exporters have ended. */
void near_report_revoked(struct gateway *gateway);

/* The memory with the handle, which is its machine's alone; NULL = there is none. */
struct near *near_find(struct gateway *gateway, const struct gateway_frame *frame, uint64_t handle);

/* Of memory that is ending: free it once no job uses it. */
void near_release_if_idle(struct near *near);

/* ---- near_requests.c ---- */

void near_on_request(struct gateway *gateway, const struct gateway_frame *frame);

/* The requester's machine has all answers of a stream that failed. */
void near_on_stream(struct gateway *gateway, const struct gateway_frame *frame);
void near_forget_streams(struct gateway *gateway, uint32_t machine);

/* ---- outlet.c ---- */

/* @group is the outlet's from now on. Returns 0 or -ENOMEM. */
int outlet_create(struct near *near, const struct near_group *group);
void outlet_destroy(struct outlet *outlet); /* of a near memory that is being freed, in a job */
void outlet_stop(struct outlet *outlet);    /* the inbox is not used any more */

/* The inbox's memory is about to go: keep what it says. In the thread that revokes. */
void outlet_keep_last_words(struct outlet *outlet);

/* Send what the inbox says, if that is new. */
void outlet_report(struct outlet *outlet);
/* The requester begins to send messages. */
void outlet_take(struct outlet *outlet, const struct gateway_frame *frame);
void outlet_take_records(struct outlet *outlet, const struct gateway_frame *frame);

/* Import the doorbells of the inbox @remote, in a job. Returns 0 or -errno. */
int outlet_find_group(struct sim_session *session, struct sim_remote *remote, uint32_t function,
		      struct near_group *ret_group);
void outlet_release_group(struct sim_session *session, struct near_group *group);

#endif
