/* SPDX-License-Identifier: BSD-3-Clause */
/* Poll groups: doorbells, the alarm, and going to sleep. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipe_priv.h"

static size_t memory_size(const struct sim_poll_group_cfg *cfg)
{
	const struct sim_ring_cfg ring = sim_pipe_ring_cfg(cfg->recv_queue_size, cfg->max_msg_bytes);

	return cfg->has_one_pipe ? SIM_PIPE_RING_OFFSET + sim_ring_size(&ring) : sizeof(struct sim_doorbell_shared);
}

int sim_poll_group_open(struct sim_poll_group *group, const struct sim_poll_group_cfg *cfg)
{
	int rc;

	*group = (struct sim_poll_group){ .cfg = *cfg, .memory_fd = -1, .has_free_ring = cfg->has_one_pipe };
	STAILQ_INIT(&group->completed);
	STAILQ_INIT(&group->deferred);
	rc = sim_segment_create(memory_size(cfg), &group->memory, &group->memory_fd);
	group->doorbells.shared = group->memory.base;
	group->record_bytes = rc == 0 ? sim_pipe_max_record_bytes(cfg->max_msg_bytes) : 0;
	return rc;
}

void sim_poll_group_close(struct sim_poll_group *group)
{
	if (!sim_poll_group_is_open(group))
		return;
	sim_segment_unmap(&group->memory);
	sim_poll_group_close_fd(group);
	free(group->record_buf);
	group->record_buf = NULL;
	group->record_bytes = 0;
	free(group->pipes);
	group->pipes = NULL;
	group->num_slots = group->num_pipes = 0;
}

void sim_poll_group_close_fd(struct sim_poll_group *group)
{
	if (group->memory_fd >= 0)
		close(group->memory_fd);
	group->memory_fd = -1;
}

static bool waits_for_time(const struct sim_pipe *pipe)
{
	return sim_pipe_holds_messages(pipe) || pipe->state == SIM_PIPE_OPENING ||
	       (pipe->state == SIM_PIPE_OPEN &&
		(pipe->is_dead || (pipe->group->cfg.timing && sim_ring_has_record(&pipe->in))));
}

void sim_poll_group_on_alarm(struct sim_poll_group *group)
{
	sim_pipe_end_due_sends(group);
	for (uint32_t i = 0; i < group->num_slots; i++)
		if (group->pipes[i] && waits_for_time(group->pipes[i]))
			sim_doorbell_requeue(&group->doorbells, i);
}

void sim_poll_group_find_missed_rings(struct sim_poll_group *group)
{
	for (uint32_t i = 0; i < group->num_slots; i++)
		if (group->pipes[i] && sim_pipe_has_missed_ring(group->pipes[i]))
			sim_doorbell_requeue(&group->doorbells, i);
}

bool sim_poll_group_arm(struct sim_poll_group *group)
{
	for (uint32_t i = 0; i < group->num_slots; i++)
		if (group->pipes[i])
			sim_ring_arm(&group->pipes[i]->in);
	sim_poll_group_find_missed_rings(group);
	return sim_doorbell_arm(&group->doorbells);
}
