/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 of a message. */
#include <doca_sha.h>

#include "probe_engine.h"

PROBE_CALLBACKS(sha_task_hash)

static uint32_t log2_of(unsigned int number)
{
	uint32_t log = 0;

	while (1U << log < number)
		log++;
	return log;
}

static struct doca_ctx *create(struct probe_worker *worker)
{
	struct doca_sha *sha;

	probe_must(doca_sha_create(worker->run->dev, &sha), "create a context");
	probe_must(doca_sha_task_hash_set_conf(sha, on_sha_task_hash, on_sha_task_hash_failed,
					       log2_of(worker->run->depth)),
		   "configure it");
	worker->instance = sha;
	return doca_sha_as_ctx(sha);
}

static struct doca_task *alloc(struct probe_worker *worker, struct doca_buf *from, struct doca_buf *to,
			       union doca_data task_data)
{
	struct doca_sha_task_hash *task;

	probe_must(
		doca_sha_task_hash_alloc_init(worker->instance, DOCA_SHA_ALGORITHM_SHA256, from, to, task_data, &task),
		"make a task");
	return doca_sha_task_hash_as_task(task);
}

static void destroy(struct probe_worker *worker)
{
	probe_must(doca_sha_destroy(worker->instance), "destroy the context");
}

static doca_error_t is_supported(const struct doca_devinfo *devinfo)
{
	return doca_sha_cap_task_hash_get_supported(devinfo, DOCA_SHA_ALGORITHM_SHA256);
}

const struct probe_engine probe_sha = {
	.name = "sha",
	.kind = { create, alloc, destroy },
	.is_supported = is_supported,
};
