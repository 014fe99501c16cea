/* SPDX-License-Identifier: BSD-3-Clause */
#include "bfsim.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "board_priv.h"
#include "sim/session/control.h"
#include "sim/session/here.h"
#include "sim/trace/recording.h"
#include "sim/trace/trace.h"
#include "sim/why.h"

struct search {
	const char *side, *operation; /* NULL = any */
	struct bfsim_tasks found;
};

static void add(struct search *search, const struct sim_trace_recording *recording)
{
	for (uint32_t i = 0; i < recording->num_ops; i++) {
		const struct sim_trace_op *op = &recording->ops[i];

		if (search->operation && strcmp(search->operation, sim_trace_name_of(recording, op->name)) != 0)
			continue;
		search->found.submitted += op->submitted;
		search->found.completed += op->completed;
		search->found.failed += op->failed;
		search->found.bytes += op->bytes;
	}
}

static bool is_wanted(const struct search *search, const struct sim_msg *msg)
{
	return !search->side ||
	       strncmp(search->side, msg->body.recorded.side, sizeof(msg->body.recorded.side)) == 0;
}

static int take(struct search *search, const struct sim_msg *msg, int fd)
{
	const struct sim_trace_clock clock = {.zero_ns = msg->body.recorded.zero_ns}; /* only counts matter here */
	struct sim_trace_recording recording = {0};
	int rc;

	if (!is_wanted(search, msg))
		return 0;
	rc = sim_trace_recording_read_fd(fd, &clock, &recording);
	if (rc == -EPROTO) /* of a process that wrote nonsense: the others count */
		return 0;
	if (rc == 0)
		add(search, &recording);
	sim_trace_recording_free(&recording);
	return rc;
}

/* The daemon's recordings, one after the other. */
static int search_all(struct search *search, int dir_fd)
{
	uint64_t number = 1;
	int rc = 0;

	while (rc == 0) {
		struct sim_msg msg = {.type = SIM_MSG_RECORDING, .body.recording.number = number};
		int fd = -1;

		rc = sim_control_exchange(dir_fd, &msg, -1, &fd);
		if (rc == 0 && msg.status == -ENOENT)
			return 0;
		if (rc == 0)
			rc = msg.status;
		if (rc == 0) {
			number = msg.body.recorded.number + 1;
			rc = take(search, &msg, fd);
		}
		if (fd >= 0)
			close(fd);
	}
	return rc;
}

static int search_session(struct search *search, const char *dir)
{
	int dir_fd = api_open_dir(dir), rc;

	if (dir_fd < 0)
		return dir_fd;
	rc = search_all(search, dir_fd);
	close(dir_fd);
	return rc < 0 ? sim_control_failed(dir, rc) : 0;
}

/* On a private card there is nobody else. */
static int search_own(struct search *search, const struct sim_here *here)
{
	struct sim_trace_recording recording = {0};
	int rc;

	if (!here->attached || (search->side && strcmp(search->side, here->side) != 0))
		return 0;
	rc = sim_trace_read_own(&recording);
	if (rc == -ENOENT)
		return sim_because(-ENOTSUP, "nothing is counted on this private card: BFSIM_TRACE=off, or there was no memory for it");
	if (rc < 0)
		return sim_because(rc, "what this process did can't be counted: %s", strerror(-rc));
	add(search, &recording);
	sim_trace_recording_free(&recording);
	return 0;
}

int bfsim_tasks(const char *side, const char *operation, struct bfsim_tasks *ret_tasks)
{
	struct search search = {.side = side, .operation = operation};
	struct sim_here here;
	int rc;

	if (!ret_tasks)
		return sim_because(-EINVAL, "there is no place for the answer: ret_tasks is NULL");
	rc = sim_here_lock(&here);
	if (rc < 0)
		return sim_because(rc, "no memory: %s", strerror(-rc));
	if (here.dir)
		rc = search_session(&search, here.dir);
	else
		rc = search_own(&search, &here);
	sim_here_unlock();
	if (rc == 0)
		*ret_tasks = search.found;
	return rc;
}
