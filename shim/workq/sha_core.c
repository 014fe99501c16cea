/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA jobs as tasks of the core. Compiled with the core. */
#include "shim/sha/sha_priv.h"

#include <stdlib.h>

#include "sha_core.h"
#include "shim/common/base/alloc.h"
#include "shim/common/base/check.h"

struct workq_sha_session {
	struct shim_object object;               /* first */
	struct workq_sha_core *core;             /* NULL = its queue was removed from the context */
	struct doca_sha_task_partial_hash *task; /* NULL = the session was lost */
	LIST_ENTRY(workq_sha_session) link;
};

struct workq_sha_core {
	struct workq_accel_core *accel_core;
	LIST_HEAD(, workq_sha_session) sessions;
};

/* Where the card has no engine, the library of this generation computes digests by itself. */
static const struct pcie_accel_caps software_caps = {
	.is_supported = true,
	.max_list_len = 128,
	.max_tasks = 8192,
	.max_buf_bytes = INT32_MAX,
};

const char *workq_sha_find_lack(void)
{
	return sha_digest_find_lack();
}

static void free_task(struct workq_sha_session *session)
{
	struct doca_task *task = &session->task->base.base.task;

	session->task = NULL;
	doca_task_free(task);
}

/* Tasks in flight are freed at their end. */
static void on_stopping(void *arg)
{
	struct workq_sha_core *core = arg;
	struct workq_sha_session *session;

	LIST_FOREACH(session, &core->sessions, link)
		if (session->task && !session->task->base.base.task.in_flight)
			free_task(session);
}

doca_error_t workq_sha_core_create(struct doca_dev *dev, uint32_t depth, struct workq_attachment *attachment,
				   struct workq_sha_core **ret_core)
{
	struct workq_sha_core *core = calloc(1, sizeof(*core));
	struct doca_sha *sha;
	doca_error_t result;

	if (!core)
		return DOCA_ERROR_NO_MEMORY;
	result = doca_sha_create(dev, &sha);
	if (result == DOCA_SUCCESS) {
		sha->accel.software_caps = &software_caps;
		result = shim_workq_accel_create(&sha->accel, depth, attachment, &core->accel_core);
	}
	if (result != DOCA_SUCCESS) {
		free(core);
		return result;
	}
	shim_workq_accel_set_stopping(core->accel_core, on_stopping, core);
	*ret_core = core;
	return DOCA_SUCCESS;
}

void workq_sha_core_destroy(struct workq_sha_core *core)
{
	struct workq_sha_session *session;

	if (!core)
		return;
	while ((session = LIST_FIRST(&core->sessions)) != NULL) {
		LIST_REMOVE(session, link);
		session->core = NULL;
	}
	shim_workq_accel_destroy(core->accel_core);
	free(core);
}

struct doca_ctx *workq_sha_core_as_ctx(struct workq_sha_core *core)
{
	return shim_workq_accel_as_ctx(core->accel_core);
}

/* ---- jobs ---- */

static void prepare_hash(struct doca_task *task, const struct workq_accel_job *job)
{
	((struct doca_sha_task_hash *)task)->algorithm = ((const struct workq_sha_kind *)job->arg)->algorithm;
}

static void prepare_piece(struct doca_task *task, const struct workq_accel_job *job)
{
	struct doca_sha_task_partial_hash *partial = (struct doca_sha_task_partial_hash *)task;
	const struct workq_sha_kind *kind = job->arg;

	if (!partial->has_begun)
		partial->algorithm = kind->algorithm;
	partial->is_final = kind->is_final;
}

/* A session takes another message after the last piece of one. */
static void finish_piece(struct doca_task *task, doca_error_t status, void *result)
{
	struct workq_sha_session *session = result;

	(void)task;
	if (status != DOCA_SUCCESS)
		free_task(session);
	else if (session->task->has_ended)
		session->task->has_begun = session->task->is_final = session->task->has_ended = false;
}

static doca_error_t check_session(const struct workq_sha_session *session, const struct workq_sha_kind *kind)
{
	const char *problem = NULL;

	if (!session->task)
		problem = "was lost when a job failed; create another one";
	else if (session->task->base.base.task.in_flight)
		problem = "has a job in flight; retrieve its event first";
	if (problem) {
		sim_err("doca_workq_submit: the partial session %s", problem);
		return DOCA_ERROR_BAD_STATE;
	}
	if (!session->task->has_begun || (int)session->task->algorithm == kind->algorithm)
		return DOCA_SUCCESS;
	sim_err("doca_workq_submit: the partial session has a message of another algorithm");
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t workq_sha_core_submit(struct workq_sha_core *core, const struct workq_sha_kind *kind,
				   struct workq_sha_session *session, const struct workq_accel_job *job)
{
	struct workq_accel_job accel_job = *job;
	doca_error_t result = kind->is_partial ? check_session(session, kind) : DOCA_SUCCESS;

	if (result != DOCA_SUCCESS)
		return result;
	accel_job.index = kind->is_partial ? SHA_PARTIAL_HASH : SHA_HASH;
	accel_job.arg = kind;
	accel_job.prepare = kind->is_partial ? prepare_piece : prepare_hash;
	if (kind->is_partial) {
		accel_job.task = &session->task->base.base.task;
		accel_job.finish = finish_piece;
		accel_job.result = session;
	}
	return shim_workq_accel_submit(core->accel_core, &accel_job);
}

/* ---- sessions ---- */

bool workq_sha_session_is_of(const struct workq_sha_session *session, const struct workq_sha_core *core)
{
	return shim_handle_is(session, SHIM_WORKQ_SHA_SESSION) && session->core == core;
}

doca_error_t workq_sha_session_create(struct workq_sha_core *core, struct workq_sha_session **ret_session)
{
	struct workq_sha_session *session = shim_object_new(SHIM_WORKQ_SHA_SESSION, sizeof(*session));
	struct doca_task *task;
	doca_error_t result;

	if (!session)
		return DOCA_ERROR_NO_MEMORY;
	result = shim_workq_accel_alloc(core->accel_core, SHA_PARTIAL_HASH, &task);
	if (result != DOCA_SUCCESS) {
		shim_object_free(session, SHIM_WORKQ_SHA_SESSION);
		return result;
	}
	session->core = core;
	session->task = (struct doca_sha_task_partial_hash *)task;
	session->task->has_begun = session->task->is_final = session->task->has_ended = false;
	LIST_INSERT_HEAD(&core->sessions, session, link);
	*ret_session = session;
	return DOCA_SUCCESS;
}

doca_error_t workq_sha_session_destroy(struct workq_sha_session *session)
{
	if (session->task && session->task->base.base.task.in_flight) {
		sim_err("doca_sha_partial_session_destroy: the session has a job in flight; retrieve its event first");
		return DOCA_ERROR_BAD_STATE;
	}
	if (session->task)
		free_task(session);
	if (session->core)
		LIST_REMOVE(session, link);
	shim_object_free(session, SHIM_WORKQ_SHA_SESSION);
	return DOCA_SUCCESS;
}

doca_error_t workq_sha_session_copy(const struct workq_sha_session *from, struct workq_sha_session *to)
{
	if (!from->task || !to->task || from->task->base.base.task.in_flight || to->task->base.base.task.in_flight) {
		sim_err("doca_sha_partial_session_copy: a session has a job in flight, or was lost when a job failed");
		return DOCA_ERROR_BAD_STATE;
	}
	return shim_sha_partial_copy(from->task, to->task);
}
