/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on a sync event in the caller's thread. Any number of threads may call them. */
#include "shim/common/base/check.h"
#include "sync_event_priv.h"

doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value)
{
	doca_error_t result;

	SHIM_NEED_FAST(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(value);
	result = shim_sync_event_check(__func__, event);
	return result == DOCA_SUCCESS ? shim_sync_event_error(__func__, shim_sync_value_get(&event->value, value)) :
					result;
}

static doca_error_t check_update(const char *func, const struct doca_sync_event *event)
{
	const struct doca_dev *dev = event->ctx.dev;
	doca_error_t result = shim_sync_event_check(func, event);

	if (result == DOCA_SUCCESS && doca_unlikely(sim_injector_may_hit(shim_faults(), SIM_OP_SYNC_EVENT_UPDATE)))
		result = shim_fault_inject(dev ? shim_dev_function(dev) : NULL, SIM_OP_SYNC_EVENT_UPDATE, 0, 0);
	if (result == DOCA_SUCCESS && doca_unlikely(event->update_ns > 0))
		shim_wait_session_ns(event->update_ns);
	return result;
}

doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value)
{
	doca_error_t result;

	SHIM_NEED_FAST(event, SHIM_SYNC_EVENT);
	result = check_update(__func__, event);
	return result == DOCA_SUCCESS ? shim_sync_event_error(__func__, shim_sync_value_set(&event->value, value)) :
					result;
}

doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value, uint64_t *fetched)
{
	doca_error_t result;

	SHIM_NEED_FAST(event, SHIM_SYNC_EVENT);
	SHIM_NEED_OUT(fetched);
	result = check_update(__func__, event);
	return result == DOCA_SUCCESS ?
		       shim_sync_event_error(__func__, shim_sync_value_add(&event->value, value, fetched)) :
		       result;
}

static bool find_wait_fault(const struct doca_sync_event *event, struct sim_fault_hit *ret_hit)
{
	struct sim_injector *faults = shim_faults();
	struct sim_fault_site site = { .op = SIM_OP_SYNC_EVENT_WAIT, .function = SIM_NO_FUNCTION };

	if (event->ctx.dev)
		site.function = shim_dev_function(event->ctx.dev)->id;
	return sim_injector_may_hit(faults, site.op) && shim_fault_hits(faults, &site, event->ctx.trace_id, ret_hit);
}

static doca_error_t wait_for_value(const char *func, struct doca_sync_event *event, enum shim_sync_relation relation,
				   uint64_t value, uint64_t mask, bool yields)
{
	struct shim_sync_condition condition = { .relation = relation, .to = value, .mask = mask };
	doca_error_t result = shim_sync_event_check(func, event);
	struct sim_fault_hit hit = { 0 };

	if (result != DOCA_SUCCESS)
		return result;
	if (find_wait_fault(event, &hit))
		result = shim_fault_status(&hit);
	if (result == DOCA_SUCCESS)
		result = shim_sync_event_error(func, shim_sync_value_wait(&event->value, &condition, yields));
	shim_fault_delay(&hit);
	return result;
}

#define DEFINE_WAIT(function_name, relation, yields)                                             \
	doca_error_t function_name(struct doca_sync_event *event, uint64_t value, uint64_t mask) \
	{                                                                                        \
		SHIM_NEED_FAST(event, SHIM_SYNC_EVENT);                                          \
		return wait_for_value(__func__, event, (relation), value, mask, (yields));       \
	}

DEFINE_WAIT(doca_sync_event_wait_eq, SHIM_SYNC_EQ, false)
DEFINE_WAIT(doca_sync_event_wait_eq_yield, SHIM_SYNC_EQ, true)
DEFINE_WAIT(doca_sync_event_wait_neq, SHIM_SYNC_NEQ, false)
DEFINE_WAIT(doca_sync_event_wait_neq_yield, SHIM_SYNC_NEQ, true)
DEFINE_WAIT(doca_sync_event_wait_gt, SHIM_SYNC_GT, false)
DEFINE_WAIT(doca_sync_event_wait_gt_yield, SHIM_SYNC_GT, true)
