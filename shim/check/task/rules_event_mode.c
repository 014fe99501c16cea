/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that the completion callback of a task does not change its engine's event mode. */
#include "shim/check/history/pe_records.h"
#include "shim/check/report/hit.h"

/* Returns whether the call that progresses @pe is in the callback of a task. One call of an engine in mode PROGRESS_ALL may
 * call the user for other events behind that. */
static bool is_in_task_callback(const struct check_thread *self, const struct doca_pe *pe)
{
	return self->engine_call && self->engine_call->function == SHIM_FN_doca_pe_progress &&
	       self->callback == CHECK_TASK_CALLBACK && self->engine && self->engine->pe == pe &&
	       (pe->event_mode == DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE || !self->engine->has_events);
}

static void enter_set_event_mode(struct shim_call *call)
{
	const struct check_thread *self = check_this_thread;
	const struct doca_pe *pe = check_arg(call, 0);
	struct check_stack progress;
	struct check_hit *hit;

	if (!is_in_task_callback(self, pe))
		return;
	progress = check_stack_of(self->engine_call->caller);
	hit = check_hit_begin(BFC_EVENT_MODE_IN_CALLBACK, call,
			      "doca_pe_set_event_mode: called in the completion callback of a task");
	check_hit_add_party(hit, self->tid, &progress, "doca_pe_progress of the same engine called the program back");
	check_hit_add_object(hit, "progress engine", pe, NULL);
	check_hit_end(hit);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_pe_set_event_mode, enter_set_event_mode, NULL },
};

const struct check_part check_event_mode = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
};
