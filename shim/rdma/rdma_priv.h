/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/rdma/rdma_priv.h - RDMA contexts, their connections and their tasks.
 *
 *   doca_rdma               a context: properties, connections, and the group of their queue pairs (sim/rdma/qp_group.h)
 *   doca_rdma_connection    a queue pair (sim/rdma/queue_pair.h) and what the program knows of it
 *   rdma_task               a task of any type: a work request of a queue pair, or a receive
 *
 * All types of tasks have one struct, and a row of the table in rdma.c.
 */
#ifndef SHIM_RDMA_PRIV_H
#define SHIM_RDMA_PRIV_H

#include <doca_buf.h>
#include <doca_rdma.h>
#include <sys/queue.h>

#include "shim/common/mem/buf_priv.h"
#include "shim/common/pe/pe_priv.h"
#include "shim/common/pe/task_fault.h"
#include "sim/protocol/descriptor.h"
#include "sim/rdma/far_requests.h"
#include "sim/rdma/queue_pair.h"
#include "sim/rdma/unpolled.h"
#include "sim/session/channel.h"

enum rdma_task_index {
	RDMA_RECEIVE,
	RDMA_SEND,
	RDMA_SEND_IMM,
	RDMA_READ,
	RDMA_WRITE,
	RDMA_WRITE_IMM,
	RDMA_CMP_SWP,
	RDMA_FETCH_ADD,
	RDMA_EVENT_GET,
	RDMA_EVENT_SET,
	RDMA_EVENT_ADD,
	RDMA_NUM_TASKS,
};

struct rdma_task_type;

/* What the program configured for one type of tasks. */
struct rdma_conf {
	const struct rdma_task_type *kind;
	uint32_t num_tasks;          /* 0 = not configured */
	void (*done)(void);          /* callbacks of the type's own kind */
	void (*failed)(void);        /* likewise */
	struct shim_task_type type;  /* its tasks have room for their segments; once started */
	struct shim_task_pool *pool; /* NULL while the context is idle */
};

/* Set while idle. */
struct rdma_properties {
	uint32_t permissions; /* enum doca_access_flag */
	uint32_t send_queue_size;
	uint32_t receive_queue_size; /* of kernels on a DPA */
	uint32_t max_send_list_len, max_receive_list_len;
	enum doca_rdma_transport_type transport;
	uint16_t max_connections;
	uint8_t rnr_retries;
	uint32_t gid_index;
	bool has_gid_index; /* the program set it */
	uint32_t sl;
	enum doca_mtu_size mtu;
	uint16_t request_timeout_ms;
	doca_rdma_connection_request_cb_t on_request;
	doca_rdma_connection_established_cb_t on_established;
	doca_rdma_connection_failure_cb_t on_failure;
	doca_rdma_connection_disconnection_cb_t on_disconnected;
};

/* What the interface of the releases does otherwise that the library is for. */
struct rdma_release {
	/* A start is in progress up to the connect; a context has one connection (2.5 and 2.6). */
	bool starts_by_connect;
};

extern const struct rdma_release rdma_release;

TAILQ_HEAD(rdma_connections, doca_rdma_connection);

struct doca_dpa_completion;
struct rdma_dpa;
struct rdma_listener;

struct doca_rdma {
	struct doca_ctx ctx; /* first */
	struct rdma_properties properties;
	struct rdma_conf conf[RDMA_NUM_TASKS];
	struct sim_qp_group group;
	struct rdma_connections connections;
	struct rdma_connections ended; /* whose handles the program may still have, oldest first */
	uint32_t num_ended;
	uint32_t num_connections, next_id;
	SLIST_HEAD(, rdma_listener) listeners;
	atomic_bool has_cm_news; /* the connection manager has something to look at; any thread sets it */
	bool is_turn_of_works;   /* to be completed, before receives */
	bool is_in_callback;     /* this thread may be in a callback of the context */
	bool is_disconnecting; /* the context stops in a callback, and a step of the engine has to end its connections */
	bool is_connected;     /* starting by connect: the next step of the engine lets the context run */
	struct doca_dpa_completion *dpa_completion; /* attached; NULL = none */
	struct rdma_dpa *dpa; /* while not idle, of a context whose data path is on a DPA (dpa_priv.h) */
};

/* cm.c has the picture. */
enum rdma_cm_state {
	RDMA_CM_NONE, /* connected by descriptors */
	RDMA_CM_REQUESTED,
	RDMA_CM_OFFERED,
	RDMA_CM_ESTABLISHED,
	RDMA_CM_FAILED,
	RDMA_CM_ENDED,
	RDMA_CM_NUM_STATES,
};

/* What faults do to a request, or to its answer. */
struct rdma_cm_plan {
	uint64_t due_ns; /* it is not sent before; 0 = it is sent at once, SIM_JOB_NEVER_DUE = never */
	bool is_refused;
};

/* What the connection manager knows of a connection. */
struct rdma_cm {
	enum rdma_cm_state state;
	bool is_news;                /* the program's callback for the state has to be called */
	uint64_t news_due_ns;        /* not before this session time; 0 = at once */
	bool is_told;                /* the program knows of the end: by the callback, or it has disconnected */
	struct sim_channel *channel; /* NULL = closed */
	struct doca_rdma_addr *addr; /* of a client: the server's, counted as a user */
	struct doca_rdma_addr *listening_addr; /* of a server: the connection's own */
	uint32_t server;                       /* of a client: the server's function */
	uint64_t deadline_ns;                  /* of a client's request */
	struct rdma_cm_plan plan;              /* of a client's request, or of a server's answer */
	bool is_accepted;                      /* of a server: the answer is sent when the plan says so */
	struct sim_key peer_key;               /* of a server: the client's inbox */
	uint32_t peer_function;
};

struct doca_rdma_connection {
	struct shim_object object;
	struct doca_rdma *rdma;
	uint32_t id;
	uint64_t serial;   /* unique in the process: a task recognises a connection that was freed */
	struct sim_qp *qp; /* NULL = ended */
	uint8_t details[SIM_DESCRIPTOR_BYTES]; /* the descriptor that doca_rdma_export() gave */
	union doca_data user_data;
	uint32_t num_posted, num_pending; /* requests of kernels: in all, and those that are not flushed */
	struct rdma_cm cm;
	TAILQ_ENTRY(doca_rdma_connection) link;
};

struct rdma_task {
	struct doca_task task;   /* first */
	struct sim_rdma_far far; /* the work's, of a peer on another machine */
	/* The program's. */
	struct doca_rdma_connection *connection;
	uint64_t connection_serial;
	const struct doca_buf *src;
	struct doca_buf *dst, *result;
	struct doca_sync_event_remote_net *event;
	uint32_t immediate;
	uint64_t compare, operand;
	/* While in flight. */
	union {
		struct sim_rdma_work work;
		struct sim_rdma_receive receive;
	};
	struct sim_remote *remote; /* the peer's memory */
	struct doca_mmap *remote_map;
	uint64_t remote_addr;
	bool holds_maps;    /* those of its memory can't end: it is accessed later */
	bool replaces_data; /* the bytes go to the data of the local list, not behind it */
	int (*watched_execute)(struct sim_rdma_work *work); /* the work's own, with hooks around it */
	/* Results. */
	uint32_t result_len;
	enum doca_rdma_opcode opcode;
	uint32_t num_segments;
	struct sim_rdma_segment segments[]; /* local memory; @arg is its map */
};

struct rdma_task_type {
	struct shim_task_type task;
	enum rdma_task_index index;
	struct sim_rdma_work work; /* as it is posted, without the memory and the immediate of a task */
	uint32_t peer_access;      /* enum sim_access bit that the peer has to permit; 0 = none */
	/* Access the peer's memory, or its event: 0 or -errno. NULL if @peer_access is 0. */
	int (*access)(struct rdma_task *task);
	/* The list of local buffers is read (its data), or written (its room). NULL = the task has none. */
	const struct doca_buf *(*get_local)(const struct rdma_task *task);
	bool writes_local;
	/* The buffer of the peer's memory. NULL = none. */
	const struct doca_buf *(*get_remote)(const struct rdma_task *task);
};

extern const struct rdma_task_type rdma_receive_type, rdma_send_type, rdma_send_imm_type, rdma_read_type,
	rdma_write_type, rdma_write_imm_type, rdma_atomic_cmp_swp_type, rdma_atomic_fetch_add_type, rdma_event_get_type,
	rdma_event_set_type, rdma_event_add_type;

/* ---- rdma.c ---- */

static inline struct doca_rdma *rdma_of(const struct doca_task *task)
{
	return (struct doca_rdma *)task->ctx;
}

/* Have progress look after the queue pairs when their next deadline has come. */
static inline void rdma_set_alarm(struct doca_rdma *rdma)
{
	uint64_t deadline_ns = sim_qp_group_take_deadline(&rdma->group);

	if (doca_unlikely(deadline_ns < UINT64_MAX))
		shim_ctx_set_alarm(&rdma->ctx, deadline_ns);
}

/* ---- dpa.c ---- */

/* No completion context of a DPA is attached any more. */
void rdma_dpa_detach(struct doca_rdma *rdma);

/* ---- failure.c ---- */

/* Why a request failed with @rc, -errno: a part of a sentence. */
const char *rdma_describe_failure(int rc);

/* ---- cap.c ---- */

/* Buffers in the list of a receive, at most. */
uint32_t rdma_max_receive_list_len(const struct pcie_caps *caps);

/* ---- connection.c ---- */

/* Whether the context can have another connection, for the public function @func: SUCCESS, BAD_STATE or FULL. */
doca_error_t rdma_connection_check_room(const char *func, const struct doca_rdma *rdma);

/* Make a connection, whose queue pair is in the reset state. For the public function @func: BAD_STATE (not started), FULL,
 * CONNECTION_ABORTED or NO_MEMORY. */
doca_error_t rdma_connection_create(const char *func, struct doca_rdma *rdma, struct doca_rdma_connection **ret);
void rdma_connection_destroy(struct doca_rdma_connection *connection);

/* The program knows that the connection has ended: free all but the handle, which stays valid for a while, as programs
 * disconnect what has ended. */
void rdma_connection_end(struct doca_rdma_connection *connection);

/* Close the connection's channel of the connection manager, if there is one, without telling the program. */
void rdma_connection_close_channel(struct doca_rdma_connection *connection);

/* No longer use the server's address. */
void rdma_connection_release_addr(struct doca_rdma_connection *connection);

/* Whether @connection, any value, is a live connection of the context. */
bool rdma_connection_is_of(const struct doca_rdma_connection *connection, const struct doca_rdma *rdma);

/* ---- task.c ---- */

#define RDMA_TASK_TYPE(index, complete_)                                                              \
	{                                                                                             \
		.name = SIM_TASK_##index, .size = sizeof(struct rdma_task), .check = rdma_task_check, \
		.validate = rdma_task_check, .post = rdma_task_post, .complete = (complete_),         \
		.fault_ops = &rdma_fault_ops[index],                                                  \
	}

/* Operations of all types. */
doca_error_t rdma_task_check(struct doca_task *task);
doca_error_t rdma_task_post(struct doca_task *task);

/* The work request or receive has ended: call the program. */
void rdma_task_end_work(struct sim_rdma_work *work);
void rdma_task_end_receive(struct sim_rdma_receive *receive);

/* Configure a type, for the public function @func. */
doca_error_t rdma_task_set_conf(const char *func, struct doca_rdma *rdma, enum rdma_task_index index,
				void (*done)(void), void (*failed)(void), uint32_t num_tasks);

/* Allocate a task, for the public function @func; @connection is NULL for a receive. */
doca_error_t rdma_task_alloc(const char *func, struct doca_rdma *rdma, enum rdma_task_index index,
			     struct doca_rdma_connection *connection, union doca_data user_data,
			     struct rdma_task **ret_task);

/* Whether @task, NULL or a task, is of that type; and may be changed, else it is logged. */
bool rdma_task_is(const struct rdma_task *task, enum rdma_task_index index);
/* The same, or it was of that type before the program freed it, in a context that is not idle: the vendor's samples read the
 * buffers of tasks that they have freed. */
bool rdma_task_was(const struct rdma_task *task, enum rdma_task_index index);
bool rdma_task_may_change(const char *func, const struct rdma_task *task, enum rdma_task_index index);

/* Set a task's connection, if the task may be changed. */
void rdma_task_set_connection(const char *func, struct rdma_task *task, enum rdma_task_index index,
			      struct doca_rdma_connection *connection);

static inline const struct rdma_task_type *rdma_task_type(const struct doca_task *task)
{
	const struct rdma_conf *conf =
		(const struct rdma_conf *)((uintptr_t)task->pool->type - offsetof(struct rdma_conf, type));

	return conf->kind;
}

static inline struct rdma_task *rdma_task_of_work(struct sim_rdma_work *work)
{
	return (struct rdma_task *)((uintptr_t)work - offsetof(struct rdma_task, work));
}

static inline bool rdma_is_event_type(const struct rdma_task_type *type)
{
	return type->index >= RDMA_EVENT_GET;
}

/* ---- task_execute.c ---- */

/* Access the peer's memory or event, as the task says, if the peer permits it: 0 or -errno. */
int rdma_task_execute(struct sim_rdma_work *work);

/* Say what that is, for a peer on another machine. */
int rdma_task_begin(struct sim_rdma_work *work);

/* ---- task_fault.c ---- */

extern const struct shim_task_fault_ops rdma_fault_ops[RDMA_NUM_TASKS];

void rdma_fault_apply_hit(struct rdma_task *task);

/* Flip the hit's bits in the first @bytes of the peer's memory @remote, or of the list if that is NULL. Returns 0 or -errno. */
int rdma_fault_flip(const struct sim_fault_hit *hit, const struct sim_rdma_segment *segments, uint32_t num_segments,
		    struct sim_remote *remote, uint64_t remote_addr, uint64_t bytes);

/* Put the task's hit, if it has one, into its work request or receive, which is about to be posted. */
static inline void rdma_fault_apply(struct rdma_task *task)
{
	if (doca_unlikely(task->task.fault_hit != NULL))
		rdma_fault_apply_hit(task);
}

/* Flip bits of the memory that a receive has filled, if its hit says so. */
void rdma_fault_flip_received(struct rdma_task *task);

#endif
