/* SPDX-License-Identifier: BSD-3-Clause */
#include "bfsim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared_state_priv.h"
#include "sim/control/control.h"
#include "sim/session/current_session.h"
#include "sim/control/side.h"
#include "sim/trace/recording.h"
#include "sim/trace/task_kinds.h"
#include "sim/trace/trace.h"
#include "sim/base/last_error.h"
#include "topology_priv.h"

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

/* A side that the card does not have has done nothing: that is a slip of the pen, and no answer. @path is where the
 * card is described, unless this process is on it. */
static int check_side(const struct search *search, const struct sim_here *here, int dir_fd, const char *path)
{
	struct pcie_topology *described = NULL;
	int rc = 0;

	if (!search->side)
		return 0;
	if (!here->topology)
		rc = api_load_topology(dir_fd, path, &described);
	if (rc == 0)
		rc = sim_side_check(here->topology ? here->topology : described, "the card", search->side);
	pcie_topology_destroy(described);
	return rc;
}

static int search_session(struct search *search, const struct sim_here *here)
{
	int dir_fd = api_open_dir(here->dir), rc;

	if (dir_fd < 0)
		return dir_fd;
	rc = check_side(search, here, dir_fd, "topology.yaml");
	if (rc == 0) {
		rc = search_all(search, dir_fd);
		if (rc < 0)
			sim_control_failed(here->dir, rc);
	}
	close(dir_fd);
	return rc;
}

/* On a private card there is nobody else. */
static int search_own(struct search *search, const struct sim_here *here)
{
	const char *described = getenv("BFSIM_TOPOLOGY");
	struct sim_trace_recording recording = {0};
	int rc = check_side(search, here, AT_FDCWD, described && described[0] ? described : NULL);

	if (rc < 0)
		return rc;
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
	if (operation && !sim_task_kind_exists(operation))
		return sim_because(-ENOENT, "no kind of task is called \"%s\"; the kinds are: %s", operation,
				   sim_task_kind_names());
	rc = sim_here_lock(&here);
	if (rc < 0)
		return sim_because(rc, "no memory: %s", strerror(-rc));
	if (here.dir)
		rc = search_session(&search, &here);
	else
		rc = search_own(&search, &here);
	sim_here_unlock();
	if (rc == 0)
		*ret_tasks = search.found;
	return rc;
}
