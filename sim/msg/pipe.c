/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a pipe: opened, connected, closed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "pcie_model/arith.h"
#include "pipe_priv.h"
#include "sim/shm/wake.h"

/* ---- opening ---- */

/* Give the pipe the first free slot; the table grows as needed. Returns 0 or -ENOMEM. */
static int take_slot(struct sim_pipe *pipe)
{
	struct sim_poll_group *group = pipe->group;
	uint32_t slot = 0, count = group->num_slots;

	while (slot < count && group->pipes[slot])
		slot++;
	if (slot == count) {
		struct sim_pipe **grown;

		count = min_u32(count ? count * 2 : 1, SIM_POLL_GROUP_OWN_SLOT);
		grown = slot < count ? realloc(group->pipes, count * sizeof(struct sim_pipe *)) : NULL;
		if (!grown)
			return -ENOMEM;
		memset(grown + slot, 0, (count - slot) * sizeof(struct sim_pipe *));
		group->pipes = grown;
		group->num_slots = count;
	}
	group->pipes[slot] = pipe;
	group->num_pipes++;
	pipe->slot = slot;
	return 0;
}

_Static_assert(SIM_PIPE_RING_OFFSET >= sizeof(struct sim_doorbell_shared) &&
		       SIM_PIPE_RING_OFFSET % _Alignof(struct sim_ring_shared) == 0,
	       "the ring is behind the doorbells");

static int create_ring(struct sim_pipe *pipe)
{
	struct sim_poll_group *group = pipe->group;
	const struct sim_ring_cfg cfg = sim_pipe_ring_cfg(group->cfg.recv_queue_size, group->cfg.max_msg_bytes);
	int rc;

	if (group->has_free_ring) {
		group->has_free_ring = false;
		sim_ring_init(&pipe->in, &cfg, (uint8_t *)group->memory.base + SIM_PIPE_RING_OFFSET);
		return 0;
	}
	rc = sim_segment_create(sim_ring_size(&cfg), &pipe->in_memory, &pipe->in_fd);
	if (rc == 0)
		sim_ring_init(&pipe->in, &cfg, pipe->in_memory.base);
	return rc;
}

static void init(struct sim_pipe *pipe, const struct sim_poll_group_ops *ops)
{
	*pipe = (struct sim_pipe){ .ops = ops, .slot = SIM_PIPE_NO_SLOT, .in_fd = -1, .peer_wake_fd = -1 };
	STAILQ_INIT(&pipe->send_queue);
	STAILQ_INIT(&pipe->arrivals);
	STAILQ_INIT(&pipe->announcements);
	sim_delay_list_init(&pipe->delay_queue);
	pthread_mutex_init(&pipe->lock, NULL);
}

void sim_pipe_open_local(struct sim_pipe *pipe, const struct sim_poll_group_ops *ops)
{
	init(pipe, ops);
	sim_pipe_state_set(&pipe->state, SIM_PIPE_OPEN);
}

int sim_pipe_open(struct sim_pipe *pipe, struct sim_poll_group *group)
{
	int rc;

	init(pipe, group->cfg.ops);
	pipe->group = group;
	rc = take_slot(pipe);
	return rc == 0 ? create_ring(pipe) : rc;
}

/* ---- addresses ---- */

static uint32_t num_fds(const struct sim_pipe_address *address)
{
	return address->has_one_memory ? SIM_PIPE_FD_DOORBELL : SIM_PIPE_MAX_FDS;
}

void sim_pipe_get_address(const struct sim_pipe *pipe, uint32_t engine, uint64_t stream_id, int wake_fd,
			  struct sim_handshake_msg *ret_msg)
{
	const bool has_one_memory = !pipe->in_memory.base;
	const int memory_fd = pipe->group->memory_fd;
	const struct sim_pipe_address address = { .version = SIM_PIPE_VERSION,
						  .max_msg_bytes = pipe->group->cfg.max_msg_bytes,
						  .recv_queue_size = pipe->in.max_records,
						  .slot = pipe->slot,
						  .engine = engine,
						  .has_one_memory = has_one_memory,
						  .stream_id = stream_id };

	*ret_msg = (struct sim_handshake_msg){ .len_bytes = sizeof(address),
					       .num_fds = num_fds(&address),
					       .fds = { [SIM_PIPE_FD_RING] = has_one_memory ? memory_fd : pipe->in_fd,
							[SIM_PIPE_FD_WAKE] = wake_fd,
							[SIM_PIPE_FD_DOORBELL] = has_one_memory ? -1 : memory_fd } };
	memcpy(ret_msg->body, &address, sizeof(address));
}

int sim_pipe_parse_address(const struct sim_handshake_msg *msg, struct sim_pipe_address *ret_address)
{
	if (msg->len_bytes != sizeof(*ret_address))
		return -EPROTO;
	memcpy(ret_address, msg->body, sizeof(*ret_address));
	return ret_address->version == SIM_PIPE_VERSION && msg->num_fds == num_fds(ret_address) ? 0 : -EPROTO;
}

/* Map the doorbells and the ring of the other end. */
static int map_peer(struct sim_pipe *pipe, const struct sim_handshake_msg *msg, const struct sim_pipe_address *address,
		    const struct sim_ring_cfg *cfg)
{
	const size_t offset = address->has_one_memory ? SIM_PIPE_RING_OFFSET : 0;
	int rc = sim_segment_map(msg->fds[SIM_PIPE_FD_RING], offset + sim_ring_size(cfg), &pipe->out_memory);

	if (rc == 0 && !address->has_one_memory)
		rc = sim_segment_map(msg->fds[SIM_PIPE_FD_DOORBELL], sizeof(struct sim_doorbell_shared),
				     &pipe->peer_doorbell_memory);
	if (rc < 0)
		return rc;
	sim_ring_init(&pipe->out, cfg, (uint8_t *)pipe->out_memory.base + offset);
	pipe->peer_doorbells = address->has_one_memory ? pipe->out_memory.base : pipe->peer_doorbell_memory.base;
	return 0;
}

int sim_pipe_connect(struct sim_pipe *pipe, struct sim_handshake_msg *msg, const struct sim_pipe_address *address,
		     uint32_t max_records, bool takes_wake_fd)
{
	const struct sim_ring_cfg cfg = sim_pipe_ring_cfg(address->recv_queue_size, pipe->group->cfg.max_msg_bytes);
	int rc;

	if (cfg.max_records == 0 || cfg.max_records > max_records || address->slot >= SIM_DOORBELL_SLOTS ||
	    !sim_wake_is_valid(msg->fds[SIM_PIPE_FD_WAKE]))
		return -EPROTO;
	rc = map_peer(pipe, msg, address, &cfg);
	if (rc < 0)
		return rc;
	pipe->peer_slot = address->slot;
	pipe->peer_engine = address->engine;
	if (takes_wake_fd) {
		pipe->peer_wake_fd = msg->fds[SIM_PIPE_FD_WAKE];
		msg->fds[SIM_PIPE_FD_WAKE] = -1;
	}
	return 0;
}

/* ---- the peer ---- */

void sim_pipe_set_peer_status(struct sim_pipe *pipe, int status)
{
	if (likely(status != -EPIPE) || !sim_pipe_fault_hides_death(pipe))
		pipe->peer_status = status;
}

/* ---- closing ---- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void sim_pipe_close_in_fd(struct sim_pipe *pipe)
{
	close_fd(&pipe->in_fd);
}

/* The other end sees the end where it sees messages, so in virtual time each run has it at the same moment. The other end
 * learns of the carrier's end as well, at any moment. */
int sim_pipe_finish(struct sim_pipe *pipe)
{
	int rc = sim_pipe_flush_announcements(pipe);

	if (rc < 0)
		return rc;
	sim_ring_close(&pipe->out);
	sim_pipe_notify_peer(pipe, 0);
	return 0;
}

void sim_pipe_close(struct sim_pipe *pipe)
{
	struct sim_poll_group *group = pipe->group;

	sim_pipe_set_state(pipe, SIM_PIPE_CLOSED, -ECONNRESET);
	if (pipe->slot != SIM_PIPE_NO_SLOT) {
		group->pipes[pipe->slot] = NULL;
		group->num_pipes--;
	}
	sim_pipe_end_sends(pipe, -EIO);
	sim_pipe_drop_messages(pipe);
	sim_pipe_drop_announcements(pipe);
	close_fd(&pipe->in_fd);
	close_fd(&pipe->peer_wake_fd);
	sim_segment_unmap(&pipe->in_memory);
	sim_segment_unmap(&pipe->out_memory);
	sim_segment_unmap(&pipe->peer_doorbell_memory);
}

void sim_pipe_leave(struct sim_pipe *pipe)
{
	pthread_mutex_lock(&pipe->lock);
	pipe->group = NULL;
	pthread_mutex_unlock(&pipe->lock);
}

void sim_pipe_fini(struct sim_pipe *pipe)
{
	pthread_mutex_destroy(&pipe->lock);
}
