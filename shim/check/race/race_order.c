/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells the thread sanitizer what orders threads and processes by way of the library, which need not be built with the
 * sanitizer: an update of a sync event happens before a wait that it ends; what a process did before it sent a message
 * happens before the tasks of the peer that has the message (race_order.h). */
#include "race_order.h"

#include "race_session.h"
#include "shim/check/history/tasks_in_flight.h"
#include "shim/common/pe/task_priv.h"

void __tsan_acquire(void *addr) __attribute__((weak));
void __tsan_release(void *addr) __attribute__((weak));

static uint64_t sent, foreign_ended; /* marks: the sanitizer knows events by their addresses */

static bool orders_processes(void)
{
	return __tsan_release && __tsan_acquire && race_sync_is_doca();
}

static void note_sent(void)
{
	if (orders_processes())
		__tsan_release(&sent);
}

static void note_received(void)
{
	if (orders_processes())
		__tsan_acquire(&foreign_ended);
}

void race_order_begin_foreign(void)
{
	__tsan_acquire(&sent);
	__tsan_acquire(&foreign_ended);
}

void race_order_end_foreign(void)
{
	__tsan_release(&foreign_ended);
}

/* ---- calls ---- */

static void release_event(struct shim_call *call)
{
	if (__tsan_release && check_arg(call, 0))
		__tsan_release(check_arg(call, 0));
	note_sent();
}

static void acquire_event(struct shim_call *call)
{
	if (!__tsan_acquire || check_result(call) != DOCA_SUCCESS)
		return;
	__tsan_acquire(check_arg(call, 0));
	note_received();
}

static void enter_send(struct shim_call *call)
{
	(void)call;
	note_sent();
}

static void leave_receive(struct shim_call *call)
{
	if (check_result(call) == DOCA_SUCCESS)
		note_received();
}

/* ---- tasks: messages, and sync events of graphs ---- */

static void task_posted(struct doca_task *task)
{
	if (!check_is_buf_task(task))
		note_sent();
}

static void task_ended(struct doca_task *task, doca_error_t status)
{
	if (status == DOCA_SUCCESS && !check_is_buf_task(task))
		note_received();
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_sync_event_update_set, release_event, NULL },
	{ SHIM_FN_doca_sync_event_update_add, release_event, acquire_event },
	{ SHIM_FN_doca_sync_event_get, NULL, acquire_event },
	{ SHIM_FN_doca_sync_event_wait_eq, NULL, acquire_event },
	{ SHIM_FN_doca_sync_event_wait_eq_yield, NULL, acquire_event },
	{ SHIM_FN_doca_sync_event_wait_neq, NULL, acquire_event },
	{ SHIM_FN_doca_sync_event_wait_neq_yield, NULL, acquire_event },
	{ SHIM_FN_doca_sync_event_wait_gt, NULL, acquire_event },
	{ SHIM_FN_doca_sync_event_wait_gt_yield, NULL, acquire_event },
	{ SHIM_FN_doca_mmap_export_pci, enter_send, NULL },
	{ SHIM_FN_doca_mmap_create_from_export, NULL, leave_receive },
	{ SHIM_FN_doca_mmap_stop, NULL, leave_receive }, /* no importer uses the memory any more */
	{ SHIM_FN_doca_mmap_destroy, NULL, leave_receive },
	{ SHIM_FN_doca_comm_channel_ep_sendto, enter_send, NULL },
	{ SHIM_FN_doca_comm_channel_ep_recvfrom, NULL, leave_receive },
};

const struct check_part check_race_messages = {
	.mode = SIM_CHECK_OFF, /* a sanitizer is enough */
	.message_received = note_received,
};

const struct check_part check_race_order = {
	.mode = SIM_CHECK_OFF, /* a sanitizer is enough */
	CHECK_WATCHES(watches),
	.task_posted = task_posted,
	.task_ended = task_ended,
};
