/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about Comch's roles, objects and messages, and about clients without a server. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <doca_comch.h>

#include "shim/check/base/check.h"
#include "shim/check/history/outside_faults.h"
#include "shim/check/report/hit.h"
#include "shim/comch/comch_inspect.h"
#include "shim/common/dev/dev_priv.h"
#include "shim/common/process/runtime.h"

/* ---- roles ---- */

static void report_side(const struct shim_call *call, const char *role, const char *other_side)
{
	const struct doca_dev *dev = check_arg(call, 0);
	struct check_hit *hit;

	if (check_result(call) != DOCA_ERROR_NOT_PERMITTED || !shim_handle_is(dev, SHIM_DEV))
		return;
	hit = check_hit_begin(
		BFC_COMCH_WRONG_SIDE, call, "%s: a %s on %s, a device of side %s; only devices of the %s can have one",
		check_call_name(call), role, shim_dev_function(dev)->ibdev, shim_dev_function(dev)->side, other_side);
	check_hit_add_object(hit, "device", dev, shim_dev_function(dev)->ibdev);
	check_hit_end(hit);
}

/* ---- representors ---- */

static void report_representor(const struct shim_call *call, const struct doca_dev *dev, const struct doca_dev_rep *rep)
{
	const struct pcie_function *ours = shim_dev_function(dev), *represented = rep->devinfo->function;
	const struct pcie_function *holder =
		pcie_topology_find_rep_holder(sim_session_topology(shim_session()), represented->id);
	char addr[3][PCIE_ADDR_TEXT_SIZE];
	struct check_hit *hit;

	pcie_addr_format(&ours->addr, addr[0]);
	pcie_addr_format(&represented->addr, addr[1]);
	pcie_addr_format(holder ? &holder->addr : &ours->addr, addr[2]);
	hit = check_hit_begin(BFC_COMCH_REPRESENTOR_ELSEWHERE, call,
			      "%s: %s (%s) does not hold the representor of the host's %s (%s); %s (%s) does",
			      check_call_name(call), ours->ibdev, addr[0], represented->ibdev, addr[1],
			      holder ? holder->ibdev : "another device", addr[2]);
	check_hit_add_object(hit, "device", dev, ours->ibdev);
	check_hit_add_object(hit, "representor", rep, represented->ibdev);
	check_hit_end(hit);
}

static void leave_create_server(struct shim_call *call)
{
	const struct doca_dev *dev = check_arg(call, 0);
	const struct doca_dev_rep *rep = check_arg(call, 1);

	report_side(call, "server", "DPU");
	if (check_result(call) == DOCA_SUCCESS &&
	    !pcie_function_has_representor(shim_dev_function(dev), rep->devinfo->function->id))
		report_representor(call, dev, rep);
}

static void leave_create_client(struct shim_call *call)
{
	report_side(call, "client", "host");
}

/* ---- objects ---- */

static const struct {
	enum shim_kind kind;
	const char *name, *prefix; /* of the functions whose first argument is such an object */
} kinds[] = {
	{ SHIM_COMCH_SERVER, "server", "doca_comch_server_" },
	{ SHIM_COMCH_CLIENT, "client", "doca_comch_client_" },
	{ SHIM_COMCH_PRODUCER, "producer", "doca_comch_producer_" },
	{ SHIM_COMCH_CONSUMER, "consumer", "doca_comch_consumer_" },
};

#define NUM_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* The place of the call's kind in @kinds, or NUM_KINDS. Creators and capabilities have other first arguments. */
static size_t expected_kind(const char *function)
{
	for (size_t i = 0; i < NUM_KINDS; i++) {
		const char *rest = function + strlen(kinds[i].prefix);

		if (strncmp(function, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
			return strcmp(rest, "create") == 0 || strncmp(rest, "cap_", 4) == 0 ||
					       strncmp(rest, "completion_", 11) == 0 ?
				       NUM_KINDS :
				       i;
	}
	return NUM_KINDS;
}

static void call_failed(const struct shim_call *call)
{
	size_t expected;
	struct check_hit *hit;

	if (check_result(call) != DOCA_ERROR_INVALID_VALUE)
		return;
	expected = expected_kind(check_call_name(call));
	for (size_t i = 0; expected < NUM_KINDS && i < NUM_KINDS; i++) {
		if (i == expected || !shim_handle_is(check_arg(call, 0), kinds[i].kind))
			continue;
		hit = check_hit_begin(BFC_COMCH_WRONG_OBJECT, call, "%s: a %s was given for a %s",
				      check_call_name(call), kinds[i].name, kinds[expected].name);
		check_hit_add_object(hit, kinds[i].name, check_arg(call, 0), NULL);
		check_hit_end(hit);
	}
}

/* ---- messages ---- */

static void leave_alloc_send(struct shim_call *call)
{
	uint32_t len = (uint32_t)call->args[3];
	struct comch_endpoint_view endpoint;
	struct check_hit *hit;

	if (doca_likely(check_result(call) == DOCA_SUCCESS) || !comch_inspect_endpoint(check_arg(call, 0), &endpoint) ||
	    len <= endpoint.max_msg_bytes)
		return;
	hit = check_hit_begin(BFC_COMCH_MESSAGE_TOO_LONG, call,
			      "%s: a message of %u bytes; the %s \"%s\" sends up to %u, and the device up to %u",
			      check_call_name(call), len, endpoint.role, endpoint.name, endpoint.max_msg_bytes,
			      shim_dev_function(endpoint.ctx->dev)->caps.comch_max_msg_bytes);
	check_hit_add_ctx(hit, endpoint.ctx);
	check_hit_end(hit);
}

/* ---- clients without a server ---- */

/* A fault keeps the client from its server: of its function, or by a rule of the plan. */
static bool is_kept_away(const struct doca_ctx *ctx)
{
	return check_function_failed_ever() || check_fault_has_hit(SIM_OP_COMCH_CONNECT) || check_peer_was_killed() ||
	       shim_ctx_link_is_down(ctx);
}

static struct {
	pthread_mutex_t lock;
	pid_t pid; /* of the process that started clients */
	bool was_connected, was_refused;
	char text[512];           /* of the first that was refused */
	struct check_stack stack; /* of its start */
} clients = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void note_refused(const struct comch_endpoint_view *endpoint)
{
	const struct pcie_function *function = shim_dev_function(endpoint->ctx->dev);
	char addr[PCIE_ADDR_TEXT_SIZE];

	pcie_addr_format(&function->addr, addr);
	clients.was_refused = true;
	snprintf(
		clients.text, sizeof(clients.text),
		"the client \"%s\" was not connected, and no other client of the program was: no server of that name has "
		"taken clients of the representor of %s (%s)",
		endpoint->name, addr, function->ibdev);
}

static void ctx_changed(struct doca_ctx *ctx, enum doca_ctx_states from)
{
	const struct shim_call *call = check_current_call();
	struct comch_endpoint_view endpoint;

	if (!shim_handle_is(ctx, SHIM_COMCH_CLIENT) || !comch_inspect_endpoint(ctx, &endpoint) ||
	    endpoint.is_comm_channel)
		return;
	pthread_mutex_lock(&clients.lock);
	clients.pid = getpid();
	if (ctx->state == DOCA_CTX_STATE_RUNNING)
		clients.was_connected = true;
	else if (ctx->state == DOCA_CTX_STATE_STARTING && !clients.was_refused && call)
		check_stack_take(call->caller, &clients.stack);
	else if (from == DOCA_CTX_STATE_STARTING && !clients.was_refused &&
		 (!call || call->function != SHIM_FN_doca_ctx_stop) && !is_kept_away(ctx))
		note_refused(&endpoint);
	pthread_mutex_unlock(&clients.lock);
}

/* A program that tries again and is connected then has done right. */
static void report_unconnected(void)
{
	if (clients.was_refused && !clients.was_connected && clients.pid == getpid())
		check_hit_end(check_hit_begin_at(BFC_COMCH_NO_SERVER, &clients.stack, "%s", clients.text));
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_comch_server_create, NULL, leave_create_server },
	{ SHIM_FN_doca_cc_server_create, NULL, leave_create_server },
	{ SHIM_FN_doca_comch_client_create, NULL, leave_create_client },
	{ SHIM_FN_doca_comch_client_task_send_alloc_init, NULL, leave_alloc_send },
	{ SHIM_FN_doca_comch_server_task_send_alloc_init, NULL, leave_alloc_send },
};

const struct check_part check_comch_use = {
	CHECK_WATCHES(watches),     .mode = SIM_CHECK_API,      .ctx_changed = ctx_changed,
	.call_failed = call_failed, .exit = report_unconnected, .lock = &clients.lock,
};
