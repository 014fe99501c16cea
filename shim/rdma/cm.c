/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection manager: connections by addresses. cm_client.c and cm_server.c have the two sides.
 *
 *   client   connect_to_addr --> [requested] --accepted--> [established] --either side disconnects, or is lost--> [ended]
 *                                    '--refused, no answer in time--> [failed]
 *   server   a request --> [offered] --accept--> [established] --...--> [ended]
 *                              '--reject--> [failed]
 *
 * A request travels in a channel of the session (sim/session/channel.h), with the descriptor of the client's queue pair;
 * the answer brings that of the server's. A port is a name of a service of the network.
 */
#include <errno.h>
#include <stdatomic.h>

#include "cm_priv.h"
#include "dpa_priv.h"
#include "shim/common/base/check.h"
#include "shim/common/pe/pe_priv.h"
#include "shim/common/process/runtime.h"

/* ---- progress ---- */

/* Whether the program is to be told something now. */
static bool has_news(const struct doca_rdma_connection *connection)
{
	if (!connection->cm.is_news)
		return false;
	if (connection->cm.news_due_ns == 0 || connection->cm.news_due_ns <= shim_now_ns())
		return true;
	shim_ctx_set_alarm(&connection->rdma->ctx, connection->cm.news_due_ns);
	return false;
}

/* Call the program, and free a connection that has failed or ended. */
static void tell(struct doca_rdma_connection *connection)
{
	struct doca_rdma *rdma = connection->rdma;
	const struct rdma_properties *properties = &rdma->properties;
	enum rdma_cm_state state = connection->cm.state;

	connection->cm.is_news = false;
	if (state == RDMA_CM_ESTABLISHED) {
		properties->on_established(connection, connection->user_data, rdma->ctx.user_data);
		return;
	}
	/* The callback may free the connection, by a stop, and may destroy the server's address. */
	connection->cm.is_told = true;
	rdma_connection_release_addr(connection);
	if (state == RDMA_CM_FAILED)
		properties->on_failure(connection, connection->user_data, rdma->ctx.user_data);
	else
		properties->on_disconnected(connection, connection->user_data, rdma->ctx.user_data);
}

static void poll_connection(struct doca_rdma_connection *connection)
{
	switch (connection->cm.state) {
	case RDMA_CM_REQUESTED:
		if (!rdma_cm_poll_request(connection))
			return;
		break;
	case RDMA_CM_OFFERED:
		rdma_cm_poll_offer(connection);
		return;
	case RDMA_CM_ESTABLISHED:
		if (connection->cm.channel && sim_channel_status(connection->cm.channel) >= 0 &&
		    !sim_qp_peer_has_left(connection->qp))
			return;
		if (connection->cm.channel && !rdma_cm_has_path(connection->rdma, sim_qp_peer_function(connection->qp)))
			return; /* the peer's disconnection does not arrive yet */
		rdma_cm_set_state(connection, RDMA_CM_ENDED);
		sim_qp_leave(connection->qp, -ECONNRESET);
		break;
	default:
		return;
	}
	connection->cm.is_news = true;
}

/* Whether the connection has ended, the program knows, and all its tasks are completed. */
static bool is_over(const struct doca_rdma_connection *connection)
{
	return connection->cm.is_told && sim_qp_num_works(connection->qp) == 0;
}

/* Whether the program has to see a receive first: the peer knew that its messages were received when it ended the connection. The
 * engine's thread may have taken them since the progress engine looked for receives. */
static bool waits_for_receive(const struct doca_rdma_connection *connection)
{
	return connection->cm.state == RDMA_CM_ENDED && sim_receive_pool_due_ns(&connection->rdma->group.receives) == 0;
}

/* Returns whether the program saw an event. */
static bool look_at_all(struct doca_rdma *rdma)
{
	struct doca_rdma_connection *connection, *next;

	if (rdma_cm_look_at_listeners(rdma))
		return true;
	for (connection = TAILQ_FIRST(&rdma->connections); connection; connection = next) {
		next = TAILQ_NEXT(connection, link);
		if (!connection->cm.is_news)
			poll_connection(connection);
		if (has_news(connection) && waits_for_receive(connection)) {
			rdma_cm_notify_self(rdma);
			return false;
		}
		if (has_news(connection)) {
			tell(connection);
			return true;
		}
		if (is_over(connection))
			rdma_connection_end(connection);
	}
	return false;
}

bool rdma_cm_progress(struct doca_rdma *rdma)
{
	if (!atomic_load_explicit(&rdma->has_cm_news, memory_order_relaxed))
		return false;
	atomic_store(&rdma->has_cm_news, false); /* before the look: a later notification sets it again */
	if (!look_at_all(rdma))
		return false;
	atomic_store(&rdma->has_cm_news, true); /* there may be more */
	return true;
}

bool rdma_cm_has_work(struct doca_rdma *rdma)
{
	return atomic_load(&rdma->has_cm_news);
}

/* A client's request and its answer travel outside of virtual time: time stays while they are on their way, but not while the
 * server's program has the request. */
bool rdma_cm_holds_time(const struct doca_rdma *rdma)
{
	const struct doca_rdma_connection *connection;

	TAILQ_FOREACH(connection, &rdma->connections, link)
		if (connection->cm.state == RDMA_CM_REQUESTED && connection->cm.channel &&
		    sim_qp_get_answer(connection->qp) != SIM_QP_ASKED &&
		    rdma_cm_path_retry_ns(rdma, connection->cm.server) == 0)
			return true;
	return false;
}

/* ---- the end of a connection ---- */

/* What kernels have posted fails, at once: the queue pair ends here, and nothing of it can wait for its end by the model. */
static void disconnect_from_dpa(struct doca_rdma *rdma, struct doca_rdma_connection *connection)
{
	rdma_dpa_lock(rdma);
	rdma_dpa_flush(rdma->dpa);
	sim_qp_fail(connection->qp, -ECANCELED);
	rdma_dpa_settle(rdma->dpa);
	rdma_connection_end(connection);
	rdma_dpa_unlock(rdma);
}

doca_error_t doca_rdma_connection_disconnect(struct doca_rdma_connection *rdma_connection)
{
	SHIM_NEED(rdma_connection, SHIM_RDMA_CONNECTION);
	switch (rdma_connection->cm.state) {
	case RDMA_CM_ESTABLISHED:
		rdma_connection_close_channel(rdma_connection);
		rdma_cm_notify_self(rdma_connection->rdma);
		return DOCA_SUCCESS;
	case RDMA_CM_ENDED: /* programs call it in the disconnection callback, and after it */
		return DOCA_SUCCESS;
	case RDMA_CM_NONE: /* connected by descriptors; it ends when its tasks are completed */
		if (!rdma_connection->qp || rdma_connection->cm.is_told)
			break;
		rdma_connection->cm.is_told = true;
		if (rdma_connection->rdma->dpa) {
			disconnect_from_dpa(rdma_connection->rdma, rdma_connection);
			return DOCA_SUCCESS;
		}
		sim_qp_fail(rdma_connection->qp, -ECONNRESET);
		rdma_cm_notify_self(rdma_connection->rdma);
		return DOCA_SUCCESS;
	default:
		break;
	}
	return SHIM_REFUSE(DOCA_ERROR_CONNECTION_ABORTED, "the connection is not established, or has ended");
}

doca_error_t doca_rdma_connection_get_addr(const struct doca_rdma_connection *rdma_connection,
					   struct doca_rdma_addr **addr)
{
	SHIM_NEED(rdma_connection, SHIM_RDMA_CONNECTION);
	SHIM_NEED_OUT(addr);
	if (!rdma_connection->cm.addr && !rdma_connection->cm.listening_addr)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "the connection has no address: it was made by descriptors, or has ended");
	*addr = rdma_connection->cm.addr ? rdma_connection->cm.addr : rdma_connection->cm.listening_addr;
	return DOCA_SUCCESS;
}
