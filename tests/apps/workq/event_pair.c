/* SPDX-License-Identifier: BSD-3-Clause */
/* event_pair DESCRIPTOR at-once|by-jobs: the host and the DPU take turns by a sync event.
 *
 *   host: exports it, sets it to 1 ---> DPU: waits until it is more than 0, adds 1
 *   host: waits until it is more than 1 <--'
 */
#include <stdbool.h>
#include <string.h>

#include <doca_sync_event.h>

#include "common.h"

struct turns {
	struct doca_sync_event *event;
	struct doca_workq *workq; /* NULL = at once */
};

static void start(struct turns *turns, bool by_jobs)
{
	struct doca_ctx *ctx;

	if (!by_jobs) {
		MUST(doca_sync_event_start(turns->event));
		return;
	}
	ctx = doca_sync_event_as_ctx(turns->event);
	MUST(doca_workq_create(4, &turns->workq));
	MUST(doca_ctx_start(ctx));
	MUST(doca_ctx_workq_add(ctx, turns->workq));
}

static void stop(struct turns *turns)
{
	if (turns->workq) {
		MUST(doca_ctx_workq_rm(doca_sync_event_as_ctx(turns->event), turns->workq));
		MUST(doca_workq_destroy(turns->workq));
		MUST(doca_ctx_stop(doca_sync_event_as_ctx(turns->event)));
	} else {
		MUST(doca_sync_event_stop(turns->event));
	}
	MUST(doca_sync_event_destroy(turns->event));
}

static void do_job(struct turns *turns, struct doca_job *job, enum doca_sync_event_job_types type)
{
	struct doca_event ev = { 0 };
	doca_error_t result;

	job->type = type;
	job->ctx = doca_sync_event_as_ctx(turns->event);
	MUST(doca_workq_submit(turns->workq, job));
	do
		result = doca_workq_progress_retrieve(turns->workq, &ev, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	while (result == DOCA_ERROR_AGAIN);
	MUST(result);
	MUST((doca_error_t)ev.result.u64);
}

static void wait_until_more_than(struct turns *turns, uint64_t value)
{
	struct doca_sync_event_job_wait job = { .value = value, .mask = UINT64_MAX };

	if (turns->workq)
		do_job(turns, &job.base, DOCA_SYNC_EVENT_JOB_WAIT_GT);
	else
		MUST(doca_sync_event_wait_gt_yield(turns->event, value, UINT64_MAX));
}

#ifdef DOCA_ARCH_DPU

static void take_turn(struct turns *turns, struct doca_dev *dev, const char *path, bool by_jobs)
{
	struct bytes descriptor = bytes_await(path);
	uint64_t fetched = 0;
	struct doca_sync_event_job_update_add job = { .value = 1, .fetched = &fetched };

	MUST(doca_sync_event_create_from_export(dev, (uint8_t *)descriptor.addr, descriptor.len, &turns->event));
	free(descriptor.addr);
	start(turns, by_jobs);
	wait_until_more_than(turns, 0);
	if (turns->workq)
		do_job(turns, &job.base, DOCA_SYNC_EVENT_JOB_UPDATE_ADD);
	else
		MUST(doca_sync_event_update_add(turns->event, 1, &fetched));
	printf("the DPU found %llu\n", (unsigned long long)fetched);
}

#else

static void take_turn(struct turns *turns, struct doca_dev *dev, const char *path, bool by_jobs)
{
	struct doca_sync_event_job_update_set job = { .value = 1 };
	const uint8_t *descriptor;
	uint64_t last;
	size_t len;

	MUST(doca_sync_event_create(&turns->event));
	MUST(doca_sync_event_publisher_add_location_cpu(turns->event, dev));
	MUST(doca_sync_event_publisher_add_location_dpu(turns->event));
	MUST(doca_sync_event_subscriber_add_location_cpu(turns->event, dev));
	MUST(doca_sync_event_subscriber_add_location_dpu(turns->event));
	start(turns, by_jobs);
	MUST(doca_sync_event_export_to_dpu(turns->event, dev, &descriptor, &len));
	bytes_publish((struct bytes){ .addr = (char *)(uintptr_t)descriptor, .len = len }, path);
	if (turns->workq)
		do_job(turns, &job.base, DOCA_SYNC_EVENT_JOB_UPDATE_SET);
	else
		MUST(doca_sync_event_update_set(turns->event, 1));
	wait_until_more_than(turns, 1);
	MUST(doca_sync_event_get(turns->event, &last));
	printf("the host found %llu\n", (unsigned long long)last);
}

#endif

int main(int argc, char **argv)
{
	struct turns turns = { 0 };
	struct doca_dev *dev;

	if (argc != 3)
		return fprintf(stderr, "usage: event_pair DESCRIPTOR at-once|by-jobs\n"), EXIT_FAILURE;
	dev = open_copying_device();
	take_turn(&turns, dev, argv[1], strcmp(argv[2], "by-jobs") == 0);
	stop(&turns);
	MUST(doca_dev_close(dev));
	return EXIT_SUCCESS;
}
