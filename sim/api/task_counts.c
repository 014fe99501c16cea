/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim.h: the counters of tasks. */
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

struct task_query {
	const char *side, *operation; /* NULL = any */
	struct bfsim_tasks found;
};

static void add_recording(struct task_query *task_query, const struct sim_trace_recording *recording)
{
	for (uint32_t i = 0; i < recording->num_ops; i++) {
		const struct sim_trace_op *op = &recording->ops[i];

		if (task_query->operation && strcmp(task_query->operation, sim_trace_name_of(recording, op->name)) != 0)
			continue;
		task_query->found.submitted += op->submitted;
		task_query->found.completed += op->completed;
		task_query->found.failed += op->failed;
		task_query->found.bytes += op->bytes;
	}
}

static bool side_matches(const struct task_query *task_query, const struct sim_msg *msg)
{
	return !task_query->side ||
	       strncmp(task_query->side, msg->body.recorded.side, sizeof(msg->body.recorded.side)) == 0;
}

static int count_recording(struct task_query *task_query, const struct sim_msg *msg, int fd)
{
	const struct sim_trace_clock clock = {
		.zero_ns = msg->body.recorded.zero_ns
	}; /* the other fields only matter for times */
	struct sim_trace_recording recording = { 0 };
	int rc;

	if (!side_matches(task_query, msg))
		return 0;
	rc = sim_trace_recording_read_fd(fd, &clock, &recording);
	if (rc == -EPROTO) /* ignore a corrupt recording and count the others */
		return 0;
	if (rc == 0)
		add_recording(task_query, &recording);
	sim_trace_recording_free(&recording);
	return rc;
}

/* Count the daemon's recordings, one after the other. */
static int query_recordings(struct task_query *task_query, int dir_fd)
{
	uint64_t number = 1;
	int rc = 0;

	while (rc == 0) {
		struct sim_msg msg = { .type = SIM_MSG_GET_RECORDING, .body.recording.number = number };
		int fd = -1;

		rc = sim_control_exchange(dir_fd, &msg, -1, &fd);
		if (rc == 0 && msg.status == -ENOENT)
			return 0;
		if (rc == 0)
			rc = msg.status;
		if (rc == 0) {
			number = msg.body.recorded.number + 1;
			rc = count_recording(task_query, &msg, fd);
		}
		if (fd >= 0)
			close(fd);
	}
	return rc;
}

/* Refuse a side that the card does not have: it is a misspelt name, and a count of 0 would hide that.
 * @path names the topology file, for a process that is not attached. */
static int check_query_side(const struct task_query *task_query, const struct sim_current_session *current, int dir_fd,
			    const char *path)
{
	struct pcie_topology *topology = NULL;
	int rc = 0;

	if (!task_query->side)
		return 0;
	if (!current->topology)
		rc = api_load_topology(dir_fd, path, &topology);
	if (rc == 0)
		rc = sim_side_check(current->topology ? current->topology : topology, "the card", task_query->side);
	pcie_topology_destroy(topology);
	return rc;
}

static int query_session(struct task_query *task_query, const struct sim_current_session *current)
{
	int dir_fd = api_open_session_dir(current->dir), rc;

	if (dir_fd < 0)
		return dir_fd;
	rc = check_query_side(task_query, current, dir_fd, "topology.yaml");
	if (rc == 0) {
		rc = query_recordings(task_query, dir_fd);
		if (rc < 0)
			sim_control_set_error(current->dir, rc);
	}
	close(dir_fd);
	return rc;
}

/* A private card has no other process. */
static int query_own_process(struct task_query *task_query, const struct sim_current_session *current)
{
	const char *topology = getenv("BFSIM_TOPOLOGY");
	struct sim_trace_recording recording = { 0 };
	int rc = check_query_side(task_query, current, AT_FDCWD, topology && topology[0] ? topology : NULL);

	if (rc < 0)
		return rc;
	if (!current->attached || (task_query->side && strcmp(task_query->side, current->side) != 0))
		return 0;
	rc = sim_trace_read_own(&recording);
	if (rc == -ENOENT)
		return sim_set_error(
			-ENOTSUP,
			"nothing is counted on this private card: BFSIM_TRACE=off, or there was no memory for it");
	if (rc < 0)
		return sim_set_error(rc, "what this process did can't be counted: %s", strerror(-rc));
	add_recording(task_query, &recording);
	sim_trace_recording_free(&recording);
	return 0;
}

int bfsim_tasks(const char *side, const char *operation, struct bfsim_tasks *ret_tasks)
{
	struct task_query task_query = { .side = side, .operation = operation };
	struct sim_current_session current;
	int rc;

	if (!ret_tasks)
		return sim_set_error(-EINVAL, "there is no place for the answer: ret_tasks is NULL");
	if (operation && !sim_task_kind_exists(operation))
		return sim_set_error(-ENOENT, "no kind of task is called \"%s\"; the kinds are: %s", operation,
				     sim_task_kind_names());
	rc = sim_current_session_lock(&current);
	if (rc < 0)
		return sim_set_error(rc, "no memory: %s", strerror(-rc));
	if (current.dir)
		rc = query_session(&task_query, &current);
	else
		rc = query_own_process(&task_query, &current);
	sim_current_session_unlock();
	if (rc == 0)
		*ret_tasks = task_query.found;
	return rc;
}
