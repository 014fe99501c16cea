/* SPDX-License-Identifier: BSD-3-Clause */
/* What servers and clients have in common: configuration, start and stop, progress. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoint_priv.h"
#include "pcie_model/arith.h"
#include "shim/common/base/check.h"
#include "shim/common/process/runtime.h"
#include "shim/comch/conn/options.h"

#define DEFAULT_RECV_QUEUE 32  /* messages; our choice */
#define SWEEP_TURNS        256 /* of an endpoint that polls */

static struct comch_endpoint *endpoint_of(const struct doca_ctx *ctx)
{
	return (struct comch_endpoint *)(uintptr_t)ctx;
}

/* ---- configuration ---- */

doca_error_t comch_check_name(const char *func, const struct pcie_caps *caps, const char *name)
{
	size_t max = min_size(caps->comch_max_name_len, SIM_SERVICE_NAME_SIZE);

	if (!name) {
		sim_err("%s: name is NULL", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (name[0] != '\0' && strnlen(name, max) < max)
		return DOCA_SUCCESS;
	sim_err("%s: the server's name is %s; give 1 to %zu characters (doca_comch_cap_get_max_name_len)", func,
		name[0] ? "too long" : "empty", max - 1);
	return DOCA_ERROR_INVALID_VALUE;
}

void comch_endpoint_init(struct comch_endpoint *endpoint, const struct shim_ctx_ops *ctx_ops,
			 const struct comch_endpoint_ops *ops, struct doca_dev *dev, const char *name)
{
	const struct pcie_caps *caps = &shim_dev_function(dev)->caps;

	endpoint->ops = ops;
	strcpy(endpoint->name, name);
	endpoint->max_msg_bytes = caps->comch_max_msg_bytes;
	endpoint->recv_queue_size = min_u32(caps->comch_max_recv_queue, DEFAULT_RECV_QUEUE);
	shim_ctx_init(&endpoint->ctx, ctx_ops, dev);
	endpoint->ctx.is_silent = !comch_wakes();
}

static doca_error_t check_idle(const char *func, const struct comch_endpoint *endpoint)
{
	if (endpoint->ctx.state == DOCA_CTX_STATE_IDLE)
		return DOCA_SUCCESS;
	sim_err("%s: the context is not idle; stop it first", func);
	return DOCA_ERROR_BAD_STATE;
}

static doca_error_t set_limit(const char *func, struct comch_endpoint *endpoint, uint32_t *limit, uint32_t value,
			      uint32_t max)
{
	doca_error_t result = check_idle(func, endpoint);

	if (result != DOCA_SUCCESS)
		return result;
	if (value == 0 || value > max) {
		sim_err("%s: %u is out of range; give 1 to %u, the device's limit", func, value, max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*limit = value;
	return DOCA_SUCCESS;
}

doca_error_t comch_set_max_msg_size(const char *func, struct comch_endpoint *endpoint, uint32_t size)
{
	return set_limit(func, endpoint, &endpoint->max_msg_bytes, size,
			 shim_dev_function(endpoint->ctx.dev)->caps.comch_max_msg_bytes);
}

doca_error_t comch_set_recv_queue_size(const char *func, struct comch_endpoint *endpoint, uint32_t size)
{
	return set_limit(func, endpoint, &endpoint->recv_queue_size, size,
			 shim_dev_function(endpoint->ctx.dev)->caps.comch_max_recv_queue);
}

doca_error_t comch_set_consumer_events(const char *func, struct comch_endpoint *endpoint,
				       doca_comch_event_consumer_cb_t new_cb, doca_comch_event_consumer_cb_t expired_cb)
{
	doca_error_t result = check_idle(func, endpoint);

	if (result != DOCA_SUCCESS)
		return result;
	endpoint->new_consumer = new_cb;
	endpoint->expired_consumer = expired_cb;
	return DOCA_SUCCESS;
}

doca_error_t comch_set_recv_cb(const char *func, struct comch_endpoint *endpoint, doca_comch_event_msg_recv_cb_t cb)
{
	doca_error_t result = check_idle(func, endpoint);

	if (result == DOCA_SUCCESS)
		endpoint->received = cb;
	return result;
}

/* ---- start and stop ---- */

static const struct sim_poll_group_faults comch_faults = { SIM_OP_COMCH_SEND, SIM_OP_COMCH_RECV, true };
static const struct sim_poll_group_faults comm_channel_faults = { SIM_OP_COMM_CHANNEL_SEND, SIM_OP_COMM_CHANNEL_RECV,
								  false };

/* The time that messages take by the card's model; NULL = none: functional sessions, and cards without figures. */
static const struct pcie_comch_timing *timing_of(const struct doca_dev *dev)
{
	const struct sim_session *session = shim_session();
	const struct pcie_topology *topology = sim_session_topology(session);
	const struct pcie_profile *profile = topology->cards[shim_dev_function(dev)->card].profile;

	if (sim_clock_mode(sim_session_clock(session)) == SIM_CLOCK_FUNCTIONAL)
		return NULL;
	return profile->comch_timing.one_way_ps ? &profile->comch_timing : NULL;
}

static int open_group(struct comch_endpoint *endpoint)
{
	const struct sim_poll_group_cfg cfg = {
		.ops = &comch_group_ops,
		.clock = sim_session_clock(shim_session()),
		.vclock = &shim_vclock,
		.injector = endpoint->ctx.faults,
		.faults = comch_is_comm_channel(endpoint) ? &comm_channel_faults : &comch_faults,
		.function = shim_dev_function(endpoint->ctx.dev)->id,
		.object = endpoint->ctx.trace_id,
		.max_msg_bytes = endpoint->max_msg_bytes,
		.recv_queue_size = endpoint->recv_queue_size,
		.has_one_pipe = shim_object_is(endpoint, SHIM_COMCH_CLIENT),
		.timing = timing_of(endpoint->ctx.dev),
	};

	return sim_poll_group_open(&endpoint->group, &cfg);
}

doca_error_t comch_endpoint_start(struct comch_endpoint *endpoint)
{
	doca_error_t result = DOCA_ERROR_INITIALIZATION;
	int rc;

	if ((!endpoint->send_done && !comch_is_comm_channel(endpoint)) || !endpoint->received) {
		sim_err("doca_ctx_start: a Comch %s needs send tasks and a receive callback; call "
			"doca_comch_%s_task_send_set_conf() and doca_comch_%s_event_msg_recv_register() first",
			endpoint->ops->role_name, endpoint->ops->role_name, endpoint->ops->role_name);
		return DOCA_ERROR_BAD_STATE;
	}
	endpoint->drained = false;
	if (comch_is_comm_channel(endpoint)) {
		endpoint->compat->has_pending_recv = false;
		endpoint->compat->injected_status = DOCA_SUCCESS;
	}
	rc = open_group(endpoint);
	if (rc < 0)
		sim_err("doca_ctx_start: no shared memory for the %s's doorbells: %s", endpoint->ops->role_name,
			strerror(-rc));
	else if (comch_is_comm_channel(endpoint))
		result = DOCA_SUCCESS;
	else
		result = shim_task_pool_add(&endpoint->ctx, &comch_send_type, endpoint->num_send_tasks,
					    &endpoint->send_pool);
	if (result != DOCA_SUCCESS)
		comch_endpoint_stopped(endpoint);
	return result;
}

void comch_endpoint_stopped(struct comch_endpoint *endpoint)
{
	sim_poll_group_close(&endpoint->group);
	endpoint->send_pool = NULL;
}

doca_error_t comch_endpoint_may_stop(const struct doca_ctx *ctx)
{
	const struct comch_endpoint *endpoint = endpoint_of(ctx);

	for (uint32_t i = 0; i < endpoint->group.num_slots; i++) {
		struct doca_comch_connection *connection = comch_connection_at(endpoint, i);

		if (connection && connection->pipe.state != SIM_PIPE_LOST && comch_connection_is_busy(connection))
			return SHIM_REFUSE(DOCA_ERROR_IN_USE,
					   "consumers or producers of its connections are started; stop them first");
	}
	return DOCA_SUCCESS;
}

/* ---- progress ---- */

static bool progress_slot(struct comch_endpoint *endpoint, uint32_t slot)
{
	struct doca_comch_connection *connection = comch_connection_at(endpoint, slot);

	if (slot == SIM_POLL_GROUP_OWN_SLOT) /* a client wants to connect */
		return endpoint->ops->progress_connect(endpoint, NULL);
	return connection && comch_connection_progress(connection);
}

/* Poll each slot that rang, at most as often as there are slots: a hostile peer may ring all the time. A step may
 * complete sends. They are reported before any further event, such as the connection's end. Rings without anything to find
 * come at any moment: they do not change whose turn is next. */
static bool progress_slots(struct comch_endpoint *endpoint)
{
	uint32_t begin = endpoint->group.doorbells.cursor, slot;

	for (uint32_t i = 0; i < SIM_DOORBELL_SLOTS; i++) {
		if (sim_poll_group_has_completed(&endpoint->group))
			return false;
		if (!sim_doorbell_next(&endpoint->group.doorbells, &slot))
			break;
		if (progress_slot(endpoint, slot))
			return true;
	}
	endpoint->group.doorbells.cursor = begin;
	return false;
}

/* The connections are closed: rings have no effect. */
static void drop_rings(struct comch_endpoint *endpoint)
{
	uint32_t slot;

	for (uint32_t i = 0; i < SIM_DOORBELL_SLOTS && sim_doorbell_next(&endpoint->group.doorbells, &slot); i++)
		;
	endpoint->drained = true;
}

static __attribute__((noinline)) bool progress_connections(struct comch_endpoint *endpoint)
{
	const struct doca_ctx *ctx = &endpoint->ctx;

	if (ctx->state == DOCA_CTX_STATE_STOPPING) {
		drop_rings(endpoint);
		return false;
	}
	if (progress_slots(endpoint))
		return true;
	if (++endpoint->num_idle_turns % SWEEP_TURNS == 0)
		sim_poll_group_find_missed_rings(&endpoint->group); /* another peer may have erased a ring */
	return comch_send_complete_next(endpoint);
}

bool comch_endpoint_progress(struct doca_ctx *ctx)
{
	struct comch_endpoint *endpoint = endpoint_of(ctx);

	if (shim_alarm_expired(&ctx->alarm))
		sim_poll_group_on_alarm(&endpoint->group);
	return comch_send_complete_next(endpoint) || progress_connections(endpoint);
}

bool comch_endpoint_holds_time(struct doca_ctx *ctx)
{
	struct comch_endpoint *endpoint = (struct comch_endpoint *)ctx;
	const struct doca_comch_connection *first = comch_connection_at(endpoint, 0);

	if (ctx->state == DOCA_CTX_STATE_STARTING && first && first->pipe.state == SIM_PIPE_OPENING && first->channel)
		return true;
	return endpoint->group.num_awaiting > 0; /* the announcements are on their way */
}

bool comch_endpoint_arm(struct doca_ctx *ctx)
{
	struct comch_endpoint *endpoint = endpoint_of(ctx);
	bool has_events = sim_poll_group_arm(&endpoint->group);

	return has_events || sim_poll_group_has_completed(&endpoint->group) ||
	       (ctx->state == DOCA_CTX_STATE_STOPPING && !endpoint->drained);
}
