/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of an RDMA context, and connecting them by descriptors. */
#include <errno.h>
#include <string.h>

#include "addr_priv.h"
#include "cm_priv.h"
#include "dpa_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/base/error.h"
#include "shim/common/pe/pe_priv.h"
#include "shim/common/pe/pe_vclock.h"
#include "shim/common/process/runtime.h"

#define MAX_ENDED      1024       /* handles of ended connections that a context keeps */
#define RNR_TIMER_NS   640000     /* from one try to the next; our choice (doc/rdma.md) */
#define RNR_GRACE_NS   1000000000 /* without model time: a busy machine is slower than a receiver; our choice */
#define ACK_TIMEOUT_NS 4000000000 /* of all retries together: not connected, or no sign of life; our choice */

/* ---- life ---- */

/* How long a message waits for a receive. */
static uint64_t rnr_budget_ns(const struct rdma_properties *properties)
{
	uint64_t budget_ns = properties->rnr_retries * (uint64_t)RNR_TIMER_NS;

	if (properties->rnr_retries == 7)
		return UINT64_MAX;
	if (sim_clock_mode(sim_session_clock(shim_session())) != SIM_CLOCK_FUNCTIONAL)
		return budget_ns;
	return budget_ns > 0 && budget_ns < RNR_GRACE_NS ? RNR_GRACE_NS : budget_ns;
}

static uint32_t mtu_bytes(enum doca_mtu_size mtu)
{
	return 256u << (mtu - DOCA_MTU_SIZE_256_BYTES);
}

static uint32_t access_of(uint32_t permissions)
{
	return (permissions & DOCA_ACCESS_FLAG_RDMA_READ ? (uint32_t)SIM_ACCESS_READ : 0) |
	       (permissions & DOCA_ACCESS_FLAG_RDMA_WRITE ? (uint32_t)SIM_ACCESS_WRITE : 0) |
	       (permissions & DOCA_ACCESS_FLAG_RDMA_ATOMIC ? (uint32_t)SIM_ACCESS_ATOMIC : 0);
}

/* The peer was lost, or messages have come: the program finds out by its next progress. */
static void notify(void *arg)
{
	struct doca_rdma_connection *connection = arg;

	if (connection->rdma->dpa)
		rdma_dpa_wake(connection->rdma->dpa);
	else
		rdma_cm_notify(connection->rdma);
}

static int create_queue_pair(struct doca_rdma_connection *connection)
{
	struct doca_rdma *rdma = connection->rdma;
	int wake_fd = rdma->dpa ? rdma->dpa->wake.send_fd : shim_pe_peer_wake_fd(&rdma->ctx);
	const struct sim_qp_cfg cfg = {
		.group = &rdma->group,
		.function = shim_dev_function(rdma->ctx.dev)->id,
		.max_works = rdma->properties.send_queue_size,
		.rnr_budget_ns = rnr_budget_ns(&rdma->properties),
		.ack_timeout_ns = ACK_TIMEOUT_NS,
		.mtu_bytes = mtu_bytes(rdma->properties.mtu),
		.access = access_of(rdma->properties.permissions),
		.needs_no_peer = rdma->properties.transport == DOCA_RDMA_TRANSPORT_TYPE_DC,
		.wake_fd = wake_fd < 0 ? -1 : wake_fd,
		.engine = rdma->dpa ? rdma->dpa->turn.engine : shim_pe_vclock_engine(rdma->ctx.pe),
		.trace_id = rdma->ctx.trace_id,
		.device = shim_dev_function(rdma->ctx.dev)->ibdev,
		.notify = notify,
		.arg = connection,
	};

	return sim_qp_create(shim_session(), &cfg, &connection->qp);
}

/* Whether the context's state permits to export and to connect. */
static bool may_connect(const struct doca_rdma *rdma)
{
	return rdma->ctx.state == DOCA_CTX_STATE_RUNNING ||
	       (rdma_release.starts_by_connect && rdma->ctx.state == DOCA_CTX_STATE_STARTING);
}

/* With a start that lasts up to the connect: let the context run. A responder of the transport DC exports, and does not connect. */
static void note_connection(struct doca_rdma *rdma, bool is_export)
{
	if (!rdma_release.starts_by_connect || rdma->ctx.state != DOCA_CTX_STATE_STARTING ||
	    (is_export && rdma->properties.transport != DOCA_RDMA_TRANSPORT_TYPE_DC))
		return;
	rdma->is_connected = true;
	shim_pe_notify_self(&rdma->ctx);
}

static const struct shim_call_errors create_errors = {
	.allowed = SHIM_ERROR_BIT(NO_MEMORY),
	.other = DOCA_ERROR_CONNECTION_ABORTED,
};

doca_error_t rdma_connection_check_room(const char *func, const struct doca_rdma *rdma)
{
	if (!may_connect(rdma)) {
		sim_err("%s: %s", func, shim_ctx_describe_not_running(&rdma->ctx));
		return DOCA_ERROR_BAD_STATE;
	}
	if (rdma->num_connections == rdma->properties.max_connections) {
		sim_err("%s: the context has %u connections already; see doca_rdma_set_max_num_connections()", func,
			rdma->num_connections);
		return DOCA_ERROR_FULL;
	}
	return DOCA_SUCCESS;
}

doca_error_t rdma_connection_create(const char *func, struct doca_rdma *rdma, struct doca_rdma_connection **ret)
{
	static uint64_t last_serial;
	struct doca_rdma_connection *connection;
	doca_error_t result = rdma_connection_check_room(func, rdma);
	int rc;

	if (result != DOCA_SUCCESS)
		return result;
	connection = shim_object_new(SHIM_RDMA_CONNECTION, sizeof(*connection));
	if (!connection)
		return DOCA_ERROR_NO_MEMORY;
	connection->rdma = rdma;
	rdma_dpa_lock(rdma);
	rc = create_queue_pair(connection);
	if (rc == 0) {
		connection->id = rdma->next_id++;
		TAILQ_INSERT_TAIL(&rdma->connections, connection, link);
	}
	rdma_dpa_unlock(rdma);
	if (rc < 0) {
		sim_err("%s: the card refuses a connection: %s", func, strerror(-rc));
		shim_object_free(connection, SHIM_RDMA_CONNECTION);
		return shim_error_for_call(rc, &create_errors);
	}
	connection->serial = __atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED);
	sim_descriptor_encode(sim_session_id(shim_session()), sim_qp_key(connection->qp), connection->details);
	rdma->num_connections++;
	*ret = connection;
	return DOCA_SUCCESS;
}

void rdma_connection_release_addr(struct doca_rdma_connection *connection)
{
	if (connection->cm.addr)
		connection->cm.addr->num_users--;
	connection->cm.addr = NULL;
}

void rdma_connection_close_channel(struct doca_rdma_connection *connection)
{
	if (shim_ctx_is_same_process(&connection->rdma->ctx))
		sim_channel_close(shim_session(), connection->cm.channel, -ECONNRESET);
	connection->cm.channel = NULL;
	rdma_connection_release_addr(connection);
}

static void free_queue_pair(struct doca_rdma_connection *connection)
{
	rdma_connection_close_channel(connection);
	if (shim_ctx_is_same_process(&connection->rdma->ctx))
		sim_qp_destroy(connection->qp);
	else if (connection->qp)
		sim_qp_abandon(connection->qp);
	connection->qp = NULL;
}

void rdma_connection_destroy(struct doca_rdma_connection *connection)
{
	struct doca_rdma *rdma = connection->rdma;

	if (connection->qp) {
		TAILQ_REMOVE(&rdma->connections, connection, link);
		rdma->num_connections--;
	} else {
		TAILQ_REMOVE(&rdma->ended, connection, link);
		rdma->num_ended--;
	}
	free_queue_pair(connection);
	if (connection->cm.listening_addr)
		shim_object_free(connection->cm.listening_addr, SHIM_RDMA_ADDR);
	shim_object_free(connection, SHIM_RDMA_CONNECTION);
}

void rdma_connection_end(struct doca_rdma_connection *connection)
{
	struct doca_rdma *rdma = connection->rdma;

	free_queue_pair(connection);
	TAILQ_REMOVE(&rdma->connections, connection, link);
	rdma->num_connections--;
	TAILQ_INSERT_TAIL(&rdma->ended, connection, link);
	if (rdma->num_ended++ == MAX_ENDED)
		rdma_connection_destroy(TAILQ_FIRST(&rdma->ended));
}

bool rdma_connection_is_of(const struct doca_rdma_connection *connection, const struct doca_rdma *rdma)
{
	return shim_handle_is(connection, SHIM_RDMA_CONNECTION) && connection->rdma == rdma;
}

/* ---- by descriptors ---- */

doca_error_t doca_rdma_export(struct doca_rdma *rdma, const void **local_rdma_conn_details,
			      size_t *local_rdma_conn_details_size, struct doca_rdma_connection **rdma_connection)
{
	doca_error_t result;

	SHIM_NEED(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(local_rdma_conn_details);
	SHIM_NEED_OUT(local_rdma_conn_details_size);
	SHIM_NEED_OUT(rdma_connection);
	result = rdma_connection_create(__func__, rdma, rdma_connection);
	if (result != DOCA_SUCCESS)
		return result;
	*local_rdma_conn_details = (*rdma_connection)->details;
	*local_rdma_conn_details_size = sizeof((*rdma_connection)->details);
	note_connection(rdma, true);
	return DOCA_SUCCESS;
}

static const struct shim_call_errors connect_errors = {
	.other = DOCA_ERROR_CONNECTION_ABORTED,
	.overrides = { { EISCONN, DOCA_ERROR_BAD_STATE } },
};

static const char *describe_connect_error(int rc)
{
	switch (-rc) {
	case EINVAL:
		return "the peer's details are no unaltered descriptor of doca_rdma_export(); were they cut or changed on their way?";
	case EREMOTE:
		return "the peer's details are of another session; start both programs in one (bfsim exec)";
	case ESTALE:
		return "the peer's connection is gone: its context was stopped, or its process has ended; or the file with its details is an old one";
	case EMEDIUMTYPE:
		return "the descriptor is of another kind of object; give the one of doca_rdma_export()";
	case EADDRINUSE:
		return "another connection is connected to the peer's end that these details are of; let the peer export once for each connection";
	case EISCONN:
		return "the connection is connected already, or has ended";
	case ENOTSUP:
		return "the device has no RDMA, or the network does not connect it to the peer's";
	case EPERM:
		return "the network does not connect the device to the peer's";
	default:
		return strerror(-rc);
	}
}

doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details,
			       size_t remote_rdma_conn_details_size, struct doca_rdma_connection *rdma_connection)
{
	struct rdma_cm_plan plan;
	struct sim_key key;
	doca_error_t result;
	int rc;

	SHIM_NEED(rdma, SHIM_RDMA);
	SHIM_NEED_OUT(remote_rdma_conn_details);
	if (!rdma_connection_is_of(rdma_connection, rdma))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "rdma_connection is no connection of the context");
	if (!may_connect(rdma))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "%s", shim_ctx_describe_not_running(&rdma->ctx));
	if (!rdma_connection->qp)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the connection has ended");
	rc = sim_descriptor_decode(sim_session_id(shim_session()), remote_rdma_conn_details,
				   remote_rdma_conn_details_size, &key);
	if (rc == -ESTALE)
		rc = -EREMOTE;
	if (rc == 0 && !sim_qp_may_connect(rdma_connection->qp))
		rc = -EISCONN;
	if (rc == 0) {
		result = rdma_cm_plan(rdma, SIM_OP_RDMA_CONNECT, &plan);
		if (result != DOCA_SUCCESS)
			return result;
		rdma_dpa_lock(rdma);
		sim_qp_hold_connect(rdma_connection->qp, plan.due_ns);
		rc = plan.is_refused ? -ESTALE : sim_qp_connect(rdma_connection->qp, &key);
		if (rc < 0)
			sim_qp_hold_connect(rdma_connection->qp, 0);
		if (rdma->dpa)
			rdma_dpa_settle(rdma->dpa);
		rdma_dpa_unlock(rdma);
	}
	if (rc < 0)
		return SHIM_REFUSE(shim_error_for_call(rc, &connect_errors), "%s", describe_connect_error(rc));
	if (rdma->dpa)
		return DOCA_SUCCESS;
	rdma_set_alarm(rdma);
	note_connection(rdma, false);
	shim_pe_notify_self(&rdma->ctx); /* an engine that was armed before has to arm the connection */
	return DOCA_SUCCESS;
}

/* ---- properties ---- */

static bool is_live(const struct doca_rdma_connection *connection)
{
	return shim_handle_is(connection, SHIM_RDMA_CONNECTION);
}

#define NEED_CONNECTION(connection)                                                           \
	do {                                                                                  \
		if (!is_live(connection))                                                     \
			return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "rdma_connection is %s", \
					   (connection) ? "no live connection" : "NULL");     \
	} while (0)

doca_error_t doca_rdma_connection_get_id(const struct doca_rdma_connection *rdma_connection, uint32_t *connection_id)
{
	NEED_CONNECTION(rdma_connection);
	SHIM_NEED_OUT(connection_id);
	*connection_id = rdma_connection->id;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connection_set_user_data(struct doca_rdma_connection *rdma_connection,
						union doca_data connection_user_data)
{
	NEED_CONNECTION(rdma_connection);
	rdma_connection->user_data = connection_user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connection_get_user_data(const struct doca_rdma_connection *rdma_connection,
						union doca_data *connection_user_data)
{
	NEED_CONNECTION(rdma_connection);
	SHIM_NEED_OUT(connection_user_data);
	*connection_user_data = rdma_connection->user_data;
	return DOCA_SUCCESS;
}
