/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation and mapping of the shared state, and the private one of a process without a session. */
#include "shared_state.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

static struct sim_shared_state *_Atomic private_state;

static void init_shared_state(struct sim_shared_state *shared, enum sim_clock_mode mode)
{
	sim_clock_page_init(&shared->clock, mode);
	sim_plan_init(&shared->plan, 0);
}

int sim_shared_state_create(enum sim_clock_mode mode, struct sim_segment *ret_segment, int *ret_fd)
{
	int rc = sim_segment_create(sizeof(struct sim_shared_state), ret_segment, ret_fd);

	if (rc == 0)
		init_shared_state(ret_segment->base, mode);
	return rc;
}

int sim_shared_state_map(int fd, struct sim_segment *ret_segment)
{
	return sim_segment_map(fd, sizeof(struct sim_shared_state), ret_segment);
}

/* Untouched pages use no memory, and fork() copies the others. */
static struct sim_shared_state *create_private(void)
{
	struct sim_shared_state *made, *other = NULL;

	made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (made == MAP_FAILED)
		return NULL;
	init_shared_state(made, SIM_CLOCK_FUNCTIONAL);
	if (atomic_compare_exchange_strong(&private_state, &other, made))
		return made;
	munmap(made, sizeof(*made)); /* another thread was first */
	return other;
}

int sim_shared_state_private(struct sim_segment *ret_segment)
{
	struct sim_shared_state *shared = atomic_load(&private_state);

	if (!shared)
		shared = create_private();
	if (!shared)
		return -errno;
	*ret_segment = (struct sim_segment){ .base = shared, .len_bytes = sizeof(*shared) };
	return 0;
}

void sim_shared_state_release(struct sim_segment *segment)
{
	if (segment->base && segment->base == atomic_load(&private_state))
		*segment = (struct sim_segment){ 0 };
	sim_segment_unmap(segment);
}

uint64_t sim_shared_state_now_ns(const struct sim_shared_state *shared)
{
	return sim_clock_page_now_ns(&shared->clock);
}
