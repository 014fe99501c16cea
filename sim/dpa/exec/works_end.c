/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a process's works: a fatal kernel, no thread, or a process that is destroyed. */
#include <stdio.h>
#include <string.h>

#include "process_priv.h"
#include "sim/base/log.h"

static _Atomic uint64_t last_failure;

static void report(struct sim_dpa_eu *eu, const struct sim_dpa_work *work, const struct sim_dpa_crash *crash)
{
	const struct sim_dpa_failure failure = { .kernel = work->kernel->name, .eu = eu->id, .crash = crash };
	const struct sim_dpa_process *process = eu->process;
	char line[16] = "";

	if (crash->place.line > 0)
		snprintf(line, sizeof(line), ":%u", crash->place.line);
	sim_err("DPA application %s, kernel %s on EU %u: %s (%s, %s%s); the DPA context is in a fatal state",
		sim_dpa_image_name(process->image), work->kernel->name, eu->id, crash->reason, crash->place.function,
		crash->place.file[0] ? crash->place.file : "no line known", line);
	process->cfg.ops->fatal(process->cfg.arg, &failure);
}

void sim_dpa_take(struct sim_dpa_work_list *list, struct sim_dpa_work *work)
{
	TAILQ_REMOVE(list, work, link);
	work->is_queued = false;
}

struct sim_dpa_work *sim_dpa_take_first(struct sim_dpa_work_list *list)
{
	struct sim_dpa_work *work = TAILQ_FIRST(list);

	if (work)
		sim_dpa_take(list, work);
	return work;
}

static void end_list(struct sim_dpa_work_list *list)
{
	struct sim_dpa_work *work;

	while ((work = sim_dpa_take_first(list)))
		work->ended(work, SIM_DPA_STOPPED);
}

void sim_dpa_end_all(struct sim_dpa_process *process)
{
	end_list(&process->queue);
	for (uint32_t i = 0; process->eus && i < process->cfg.num_eus; i++) {
		struct sim_dpa_eu *eu = &process->eus[i];

		end_list(&eu->queue);
		if (eu->is_ready) {
			sim_dpa_thread_stop(&eu->guarded);
			sim_dpa_turn_interrupt(&eu->turn, &eu->wake);
			while (sim_dpa_is_virtual(process) && eu->current &&
			       eu != sim_dpa_eu_current()) /* they end in one order, at the present time */
				pthread_cond_wait(&process->changed, &process->lock);
		}
	}
}

void sim_dpa_wake_launches(struct sim_dpa_process *process)
{
	if (process->is_launch_thread_ready)
		sim_dpa_turn_signal(&process->launch_turn, &process->launch_wake);
}

void sim_dpa_fail(struct sim_dpa_eu *eu, const struct sim_dpa_work *work, const struct sim_dpa_crash *crash)
{
	struct sim_dpa_process *process = eu->process;

	if (atomic_exchange(&process->is_fatal, true))
		return;
	process->failure = (struct sim_dpa_failure_record){ .number = ++last_failure, .eu = eu->id, .crash = *crash };
	snprintf(process->failure.kernel, sizeof(process->failure.kernel), "%s", work->kernel->name);
	atomic_store(&process->is_over, true);
	sim_dpa_end_all(process);
	pthread_mutex_unlock(&process->lock);
	report(eu, work, crash);
	pthread_mutex_lock(&process->lock);
	sim_dpa_wake_launches(process);
}

void sim_dpa_fail_without_thread(struct sim_dpa_process *process, int rc)
{
	sim_err("no thread for an execution unit of the DPA: %s", strerror(-rc));
	atomic_store(&process->is_fatal, true);
	atomic_store(&process->is_over, true);
	sim_dpa_end_all(process);
}
