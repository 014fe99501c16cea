/* SPDX-License-Identifier: BSD-3-Clause */
/* Repeats failed copies with growing pauses. */
#include "retry.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include <doca_pe.h>

#include "attempt.h"

struct retry {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct retry_policy policy;
};

static void sleep_us(void *arg, uint32_t wait_us)
{
	struct timespec left = { .tv_sec = wait_us / 1000000, .tv_nsec = (long)(wait_us % 1000000) * 1000 };

	(void)arg;
	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

doca_error_t retry_create(struct doca_dev *dev, const struct retry_policy *policy, struct retry **ret_retry)
{
	struct retry *retry;
	doca_error_t result;

	if (policy->num_attempts == 0)
		return DOCA_ERROR_INVALID_VALUE;
	retry = calloc(1, sizeof(*retry));
	if (!retry)
		return DOCA_ERROR_NO_MEMORY;
	retry->dev = dev;
	retry->policy = *policy;
	if (!retry->policy.wait)
		retry->policy.wait = sleep_us;
	result = doca_pe_create(&retry->pe);
	if (result != DOCA_SUCCESS) {
		free(retry);
		return result;
	}
	*ret_retry = retry;
	return DOCA_SUCCESS;
}

void retry_destroy(struct retry *retry)
{
	if (!retry)
		return;
	doca_pe_destroy(retry->pe);
	free(retry);
}

/* The link may be up again, the queue have room, the next copy not be late. An error in the request itself repeats. */
static bool is_transient(doca_error_t result)
{
	switch (result) {
	case DOCA_ERROR_IO_FAILED:
	case DOCA_ERROR_AGAIN:
	case DOCA_ERROR_NO_MEMORY:
	case DOCA_ERROR_TIME_OUT:
		return true;
	default:
		return false;
	}
}

static uint32_t next_wait_us(const struct retry_policy *policy, uint32_t wait_us)
{
	return wait_us > policy->most_wait_us / 2 ? policy->most_wait_us : wait_us * 2;
}

doca_error_t retry_copy(struct retry *retry, void *dst, const void *src, size_t len, struct retry_report *ret_report)
{
	const struct retry_policy *policy = &retry->policy;
	struct retry_report report = { 0 };
	uint32_t wait_us = policy->first_wait_us;
	struct copy copy;
	doca_error_t result = copy_map(retry->dev, retry->pe, dst, src, len, &copy);

	while (result == DOCA_SUCCESS) {
		result = attempt(&copy, policy->deadline_ms);
		report.num_attempts++;
		report.num_late += result == DOCA_ERROR_TIME_OUT;
		if (!is_transient(result) || report.num_attempts == policy->num_attempts)
			break;
		policy->wait(policy->arg, wait_us);
		wait_us = next_wait_us(policy, wait_us);
		result = DOCA_SUCCESS;
	}
	copy_unmap(&copy);
	if (ret_report)
		*ret_report = report;
	return result;
}
