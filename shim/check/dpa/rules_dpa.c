/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about kernels: those that are fatal, those that do not end, notifications that nobody hears, and completions. A fatal kernel is reported at the
 * next call of its context that the hooks see: not doca_dpa_rpc() and launches, whose arguments vary, but one that fails, asks for the last
 * error, or ends the context. */
#include <pthread.h>
#include <time.h>

#include "shim/check/base/check.h"
#include "shim/check/base/probe.h"
#include "shim/check/report/hit.h"
#include "shim/comch/comch_inspect.h"
#include "shim/dpa/dpa_inspect.h"
#include "sim/dpa/memory/window.h"

/* A kernel that is about to end has this time, in which the program's own time or the kernel's passes. */
#define END_MS 100

static bool is_host_memory(uint64_t addr)
{
	return !check_is_unmapped((const uint8_t *)(uintptr_t)addr, 1);
}

static void end_hit(struct check_hit *hit, const struct doca_dpa *dpa)
{
	check_hit_add_object(hit, "DPA context", dpa, NULL);
	check_hit_end(hit);
}

/* ---- fatal kernels ---- */

/* Numbers of failures that are reported, so that each is once. */
static struct {
	pthread_mutex_t lock;
	uint64_t numbers[64];
	uint64_t num;
} reported = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_new(uint64_t number)
{
	bool is_found = false;

	pthread_mutex_lock(&reported.lock);
	for (uint64_t i = 0; i < 64 && i < reported.num && !is_found; i++)
		is_found = reported.numbers[i] == number;
	if (!is_found)
		reported.numbers[reported.num++ % 64] = number;
	pthread_mutex_unlock(&reported.lock);
	return !is_found;
}

static void report_failure(const struct shim_call *call, const struct doca_dpa *dpa,
			   const struct sim_dpa_failure_record *failure)
{
	const struct sim_dpa_crash *crash = &failure->crash;
	enum sim_check_rule rule;

	if (crash->kind == SIM_DPA_CRASH_WINDOW ||
	    (crash->kind == SIM_DPA_CRASH_MEMORY && sim_dpa_window_has_ended(crash->value)))
		rule = BFC_DPA_WINDOW_MISUSE;
	else if (crash->kind == SIM_DPA_CRASH_MEMORY && is_host_memory(crash->value) &&
		 !sim_dpa_process_has_heap(dpa->process, crash->value, 1))
		rule = BFC_DPA_MEMORY_OF_OTHER_SIDE;
	else if (crash->kind == SIM_DPA_CRASH_HANDLE)
		rule = BFC_DPA_FOREIGN_HANDLE;
	else if (crash->kind == SIM_DPA_CRASH_RUN_TIME)
		rule = BFC_DPA_KERNEL_NEVER_ENDS;
	else
		return;
	end_hit(check_hit_begin(
			rule, call, "%s: the kernel %s was fatal, in %s (%s:%u): %s%s", check_call_name(call),
			failure->kernel, crash->place.function, crash->place.file, crash->place.line, crash->reason,
			rule == BFC_DPA_MEMORY_OF_OTHER_SIDE ? "; it is memory of the program" :
			crash->kind == SIM_DPA_CRASH_MEMORY  ? "; it was a window to a memory map that has ended" :
							       ""),
		dpa);
}

static void find_failure(const struct shim_call *call, const struct doca_dpa *dpa)
{
	struct sim_dpa_failure_record failure;

	if (dpa && sim_dpa_process_is_fatal(dpa->process) && sim_dpa_process_get_failure(dpa->process, &failure) &&
	    is_new(failure.number))
		report_failure(call, dpa, &failure);
}

static void leave_call(struct shim_call *call)
{
	if (doca_unlikely(check_result(call) == DOCA_ERROR_DRIVER))
		find_failure(call, dpa_inspect_started(check_arg(call, 0)));
}

static void leave_peek(struct shim_call *call)
{
	find_failure(call, dpa_inspect_started(check_arg(call, 0)));
}

/* ---- copies ---- */

static bool is_heap(const struct doca_dpa *dpa, uint64_t addr)
{
	return sim_dpa_process_has_heap(dpa->process, addr, 1);
}

/* @host and @device are the addresses that the call takes for those of the program and of the heap. */
static void check_copy(const struct shim_call *call, uint64_t host, uint64_t device)
{
	const struct doca_dpa *dpa = dpa_inspect_started(check_arg(call, 0));

	if (!dpa)
		return;
	find_failure(call, dpa);
	if (is_heap(dpa, host))
		end_hit(check_hit_begin(BFC_DPA_MEMORY_OF_OTHER_SIDE, call,
					"%s: %#llx stands for memory of the program, and is memory of the DPA's heap",
					check_call_name(call), (unsigned long long)host),
			dpa);
	else if (check_result(call) == DOCA_ERROR_DRIVER && !is_heap(dpa, device) && is_host_memory(device))
		end_hit(check_hit_begin(BFC_DPA_MEMORY_OF_OTHER_SIDE, call,
					"%s: %#llx stands for memory of the DPA's heap, and is memory of the program",
					check_call_name(call), (unsigned long long)device),
			dpa);
}

static void leave_h2d(struct shim_call *call)
{
	check_copy(call, call->args[2], call->args[1]);
}

static void leave_d2h(struct shim_call *call)
{
	check_copy(call, call->args[1], call->args[2]);
}

/* ---- kernels that do not end ---- */

static void pause_1_ms(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	nanosleep(&pause, NULL);
}

/* Whether a kernel of @activity (NULL: of any) runs, and will not end soon. In virtual time it can't go on during the call. */
static bool find_endless(const struct doca_dpa *dpa, const struct sim_dpa_activity *activity,
			 struct sim_dpa_running *ret_running)
{
	for (int i = 0; i < END_MS; i++) {
		if (!sim_dpa_process_find_running(dpa->process, activity, ret_running))
			return false;
		if (ret_running->is_virtual)
			return ret_running->waits || ret_running->own_ns > END_MS * UINT64_C(100000);
		pause_1_ms();
	}
	return true;
}

static void check_endless(const struct shim_call *call, const struct doca_dpa *dpa,
			  const struct sim_dpa_activity *activity)
{
	struct sim_dpa_running running;

	if (sim_dpa_process_is_fatal(dpa->process) || !find_endless(dpa, activity, &running))
		return;
	end_hit(check_hit_begin(BFC_DPA_KERNEL_NEVER_ENDS, call, "%s: the kernel %s runs on execution unit %u%s",
				check_call_name(call), running.kernel, running.eu,
				running.waits ? ", and waits for a sync event" : ""),
		dpa);
}

static void enter_end(struct shim_call *call)
{
	const struct doca_dpa *dpa = dpa_inspect_started(check_arg(call, 0));

	if (!dpa || dpa->base != dpa || dpa->num_users > 0)
		return;
	find_failure(call, dpa);
	check_endless(call, dpa, NULL);
}

static void enter_thread_end(struct shim_call *call)
{
	const struct doca_dpa_thread *thread = dpa_inspect_thread(check_arg(call, 0));

	if (thread && thread->num_users == 0 && !thread->group)
		check_endless(call, thread->dpa, thread->activity);
}

/* ---- notifications ---- */

static const char *describe_unheard(const struct sim_dpa_unheard *unheard)
{
	if (unheard->num_without_feature > 0)
		return "the attributes of the application lack Generating_Empty_CQE";
	if (unheard->num_finished > 0)
		return "its thread had finished";
	return unheard->was_never_run ? "doca_dpa_thread_run() was not called for its thread" : NULL;
}

static void enter_notification_end(struct shim_call *call)
{
	const struct doca_dpa_notification_completion *completion = dpa_inspect_notification(check_arg(call, 0));
	struct sim_dpa_unheard unheard;
	const char *problem;
	struct check_hit *hit;

	if (!completion || sim_dpa_process_is_fatal(completion->dpa->process))
		return;
	sim_dpa_notification_get_unheard(&completion->notification, &unheard);
	problem = describe_unheard(&unheard);
	if (!problem)
		return;
	hit = check_hit_begin(BFC_DPA_NOTIFICATION_UNHEARD, call,
			      "%s: a kernel has notified this completion, and nothing happened: %s",
			      check_call_name(call), problem);
	check_hit_add_object(hit, "DPA notification completion", completion, NULL);
	end_hit(hit, completion->dpa);
}

/* ---- completions ---- */

/* A kernel that runs may still acknowledge, or ask to be notified. */
static void wait_for_kernel(const struct doca_dpa *dpa, const struct sim_dpa_completion *ring)
{
	struct sim_dpa_running running;

	for (int i = 0;
	     i < END_MS && sim_dpa_process_find_running(dpa->process, ring->activity, &running) && !running.is_virtual;
	     i++)
		pause_1_ms();
}

/* What makes completions that were not acknowledged more than the rest of a batch. */
static const char *describe_unacked(const struct sim_dpa_completion_view *view)
{
	if (view->num_unacked == 0)
		return NULL;
	if (view->num_lost > 0)
		return "the queue was full, and a later completion was lost";
	if (view->num_unacked == view->size)
		return "the queue is full";
	return view->was_armed_unacked && !view->has_acked_any ?
		       "over activations of its thread, none of the queue was" :
		       NULL;
}

static void check_completions(const struct shim_call *call, const struct doca_dpa *dpa,
			      const struct sim_dpa_completion *ring, const void *handle)
{
	struct sim_dpa_completion_view view;
	struct check_hit *hit = NULL;
	const char *problem;

	if (ring->activity)
		wait_for_kernel(dpa, ring);
	sim_dpa_completion_inspect(ring, &view);
	problem = describe_unacked(&view);
	if (problem)
		hit = check_hit_begin(BFC_DPA_COMPLETION_NOT_ACKED, call,
				      "%s: kernels have taken %u completions of %u and not acknowledged them: %s",
				      check_call_name(call), view.num_unacked, view.size, problem);
	else if (view.is_unheard && !sim_dpa_process_is_fatal(dpa->process))
		hit = check_hit_begin(
			BFC_DPA_NOTIFICATION_NOT_ARMED, call,
			"%s: completions wait (%u), and the thread sleeps, as it was rescheduled without a request for notification",
			check_call_name(call), view.num_waiting);
	if (!problem && !view.is_unheard)
		return;
	check_hit_add_object(hit, "completion context", handle, NULL);
	end_hit(hit, dpa);
}

static void enter_completion_end(struct shim_call *call)
{
	const struct doca_dpa_completion *completion = dpa_inspect_completion(check_arg(call, 0));

	if (completion && completion->num_users == 0)
		check_completions(call, completion->dpa, &completion->ring, completion);
}

static void enter_consumer_completion_end(struct shim_call *call)
{
	const struct sim_dpa_completion *ring;
	const struct doca_dpa *dpa;

	if (comch_inspect_dpa_completion(check_arg(call, 0), &ring, &dpa))
		check_completions(call, dpa, ring, check_arg(call, 0));
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_dpa_peek_at_last_error, NULL, leave_peek },
	{ SHIM_FN_doca_dpa_mem_alloc, NULL, leave_call },
	{ SHIM_FN_doca_dpa_memset, NULL, leave_call },
	{ SHIM_FN_doca_dpa_h2d_memcpy, NULL, leave_h2d },
	{ SHIM_FN_doca_dpa_d2h_memcpy, NULL, leave_d2h },
	{ SHIM_FN_doca_dpa_stop, enter_end, NULL },
	{ SHIM_FN_doca_dpa_destroy, enter_end, NULL },
	{ SHIM_FN_doca_dpa_thread_stop, enter_thread_end, NULL },
	{ SHIM_FN_doca_dpa_thread_destroy, enter_thread_end, NULL },
	{ SHIM_FN_doca_dpa_completion_stop, enter_completion_end, NULL },
	{ SHIM_FN_doca_dpa_completion_destroy, enter_completion_end, NULL },
	{ SHIM_FN_doca_comch_consumer_completion_stop, enter_consumer_completion_end, NULL },
	{ SHIM_FN_doca_comch_consumer_completion_destroy, enter_consumer_completion_end, NULL },
	{ SHIM_FN_doca_dpa_notification_completion_stop, enter_notification_end, NULL },
	{ SHIM_FN_doca_dpa_notification_completion_destroy, enter_notification_end, NULL },
};

const struct check_part check_dpa = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.lock = &reported.lock,
};
