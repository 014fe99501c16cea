/* SPDX-License-Identifier: BSD-3-Clause */
#include "shared_state.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

static struct sim_board *_Atomic own_board;

static void begin(struct sim_board *board, enum sim_clock_mode mode)
{
	sim_clock_page_init(&board->clock, mode);
	sim_plan_init(&board->plan, 0);
}

int sim_board_create(enum sim_clock_mode mode, struct sim_segment *ret_segment, int *ret_fd)
{
	int rc = sim_segment_create(sizeof(struct sim_board), ret_segment, ret_fd);

	if (rc == 0)
		begin(ret_segment->base, mode);
	return rc;
}

int sim_board_map(int fd, struct sim_segment *ret_segment)
{
	return sim_segment_map(fd, sizeof(struct sim_board), ret_segment);
}

/* Pages that nobody touches cost nothing, and a fork copies the others. */
static struct sim_board *make_own(void)
{
	struct sim_board *made, *other = NULL;

	made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (made == MAP_FAILED)
		return NULL;
	begin(made, SIM_CLOCK_FUNCTIONAL);
	if (atomic_compare_exchange_strong(&own_board, &other, made))
		return made;
	munmap(made, sizeof(*made)); /* another thread was first */
	return other;
}

int sim_board_own(struct sim_segment *ret_segment)
{
	struct sim_board *board = atomic_load(&own_board);

	if (!board)
		board = make_own();
	if (!board)
		return -errno;
	*ret_segment = (struct sim_segment){.base = board, .len_bytes = sizeof(*board)};
	return 0;
}

void sim_board_release(struct sim_segment *segment)
{
	if (segment->base && segment->base == atomic_load(&own_board))
		*segment = (struct sim_segment){0};
	sim_segment_unmap(segment);
}

uint64_t sim_board_now_ns(const struct sim_board *board)
{
	return sim_clock_page_now_ns(&board->clock);
}
