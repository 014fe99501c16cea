/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries of processes that are being started. */
#include "launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "participant.h"
#include "thread_account.h"

static struct sim_participant entry_of(struct sim_clock_page *page, const struct sim_clock_launch *launch)
{
	return (struct sim_participant){
		.page = page,
		.shared = launch->owner && launch->slot < SIM_CLOCK_MAX_PARTICIPANTS ?
				  &page->participants[launch->slot] :
				  NULL,
		.owner = launch->owner,
	};
}

void sim_clock_launch_begin(struct sim_clock_page *page, uint32_t number, struct sim_clock_launch *ret_launch)
{
	struct sim_participant entry = { 0 };

	*ret_launch = (struct sim_clock_launch){ .number = number };
	if (sim_participant_join(&entry, page, 0) < 0)
		return;
	atomic_store_explicit(&entry.shared->thread_id, 0, memory_order_relaxed);
	ret_launch->slot = (uint32_t)(entry.shared - page->participants);
	ret_launch->owner = entry.owner;
	sim_participant_wait(&entry, SIM_CLOCK_NEVER_NS, true);
}

void sim_clock_launch_attached(struct sim_clock_page *page, const struct sim_clock_launch *launch)
{
	struct sim_participant entry = entry_of(page, launch);

	if (!sim_participant_is_ours(&entry))
		return;
	atomic_store_explicit(&entry.shared->pid_namespace, sim_thread_pid_namespace(), memory_order_relaxed);
	atomic_store_explicit(&entry.shared->thread_id, (uint32_t)getpid(), memory_order_release);
}

void sim_clock_launch_end(struct sim_clock_page *page, struct sim_clock_launch *launch)
{
	struct sim_participant entry = entry_of(page, launch);

	sim_participant_leave(&entry);
	launch->owner = 0;
}

void sim_clock_launch_write(const struct sim_clock_launch *launch, char ret_text[SIM_CLOCK_LAUNCH_TEXT_SIZE])
{
	snprintf(ret_text, SIM_CLOCK_LAUNCH_TEXT_SIZE, "%" PRIu32 ":%" PRIu32 ":%" PRIu64, launch->number, launch->slot,
		 launch->owner);
}

void sim_clock_launch_read(const char *text, struct sim_clock_launch *ret_launch)
{
	struct sim_clock_launch launch;
	char end;

	*ret_launch = (struct sim_clock_launch){ 0 };
	if (text && sscanf(text, "%" SCNu32 ":%" SCNu32 ":%" SCNu64 "%c", &launch.number, &launch.slot, &launch.owner,
			   &end) == 3)
		*ret_launch = launch;
}
