/* SPDX-License-Identifier: BSD-3-Clause */
#include "board.h"

#include <unistd.h>

int sim_board_create(enum sim_clock_mode mode, struct sim_segment *ret_segment, int *ret_fd)
{
	struct sim_board *board;
	int fd, rc = sim_segment_create(sizeof(*board), ret_segment, &fd);

	if (rc < 0)
		return rc;
	board = ret_segment->base;
	sim_clock_page_init(&board->clock, mode);
	sim_plan_init(&board->plan, 0);
	if (ret_fd)
		*ret_fd = fd;
	else
		close(fd);
	return 0;
}

int sim_board_map(int fd, struct sim_segment *ret_segment)
{
	return sim_segment_map(fd, sizeof(struct sim_board), ret_segment);
}

uint64_t sim_board_now_ns(const struct sim_board *board)
{
	return sim_clock_page_now_ns(&board->clock);
}
