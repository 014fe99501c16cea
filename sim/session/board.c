/* SPDX-License-Identifier: BSD-3-Clause */
#include "board.h"

#include <time.h>
#include <unistd.h>

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int sim_board_create(struct sim_segment *ret_segment, int *ret_fd)
{
	struct sim_board *board;
	int fd, rc = sim_segment_create(sizeof(*board), ret_segment, &fd);

	if (rc < 0)
		return rc;
	board = ret_segment->base;
	board->start_ns = monotonic_ns();
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
	uint64_t now_ns = monotonic_ns();

	return now_ns > board->start_ns ? now_ns - board->start_ns : 0;
}
