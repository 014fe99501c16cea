/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done with a sync event at once, in the caller's thread; any number of them. */
#include "shim/common/base/check.h"
#include "sync_event_priv.h"

doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value)
{
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(value);
	result = shim_sync_event_check(__func__, event);
	return result == DOCA_SUCCESS ? shim_sync_event_error(__func__, shim_sync_value_get(&event->value, value)) : result;
}

static doca_error_t check_update(const char *func, const struct doca_sync_event *event)
{
	doca_error_t result = shim_sync_event_check(func, event);

	return result == DOCA_SUCCESS ? shim_strike_call_at(SIM_OP_SYNC_EVENT_UPDATE, event->ctx.dev, 0, 0) : result;
}

doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value)
{
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	result = check_update(__func__, event);
	return result == DOCA_SUCCESS ? shim_sync_event_error(__func__, shim_sync_value_set(&event->value, value)) : result;
}

doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value, uint64_t *fetched)
{
	doca_error_t result;

	SHIM_NEED(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(fetched);
	result = check_update(__func__, event);
	return result == DOCA_SUCCESS ?
		       shim_sync_event_error(__func__, shim_sync_value_add(&event->value, value, fetched)) :
		       result;
}

static bool is_struck(const struct doca_sync_event *event, struct sim_strike *ret_strike)
{
	struct sim_faults *faults = shim_faults();
	struct sim_site site = {.op = SIM_OP_SYNC_EVENT_WAIT, .function = SIM_NO_FUNCTION};

	if (event->ctx.dev)
		site.function = shim_dev_function(event->ctx.dev)->id;
	return sim_faults_any(faults, site.op) && shim_strikes(faults, &site, event->ctx.recorded_as, ret_strike);
}

static doca_error_t wait_for(const char *func, struct doca_sync_event *event, enum shim_sync_relation relation,
			     uint64_t value, uint64_t mask, bool yields)
{
	struct shim_sync_condition condition = {.relation = relation, .to = value, .mask = mask};
	doca_error_t result = shim_sync_event_check(func, event);
	struct sim_strike strike = {0};

	if (result != DOCA_SUCCESS)
		return result;
	if (is_struck(event, &strike))
		result = shim_strike_verdict(&strike);
	if (result == DOCA_SUCCESS)
		result = shim_sync_event_error(func, shim_sync_value_wait(&event->value, &condition, yields));
	shim_strike_delay(&strike);
	return result;
}

#define WAIT(function_name, relation, yields)                                                                 \
	doca_error_t function_name(struct doca_sync_event *event, uint64_t value, uint64_t mask)               \
	{                                                                                                     \
		SHIM_NEED(event, SHIM_SYNC_EVENT);                                                            \
		return wait_for(__func__, event, (relation), value, mask, (yields));                          \
	}

WAIT(doca_sync_event_wait_eq, SHIM_SYNC_EQ, false)
WAIT(doca_sync_event_wait_eq_yield, SHIM_SYNC_EQ, true)
WAIT(doca_sync_event_wait_neq, SHIM_SYNC_NEQ, false)
WAIT(doca_sync_event_wait_neq_yield, SHIM_SYNC_NEQ, true)
WAIT(doca_sync_event_wait_gt, SHIM_SYNC_GT, false)
WAIT(doca_sync_event_wait_gt_yield, SHIM_SYNC_GT, true)
