/* SPDX-License-Identifier: BSD-3-Clause */
/* Repeats failed copies with growing pauses. */
#include "retry.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include <doca_pe.h>

#include "attempt.h"

struct patient {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct patient_policy policy;
};

static void sleep_us(void *arg, uint32_t wait_us)
{
	struct timespec left = { .tv_sec = wait_us / 1000000, .tv_nsec = (long)(wait_us % 1000000) * 1000 };

	(void)arg;
	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

doca_error_t patient_create(struct doca_dev *dev, const struct patient_policy *policy, struct patient **ret_patient)
{
	struct patient *patient;
	doca_error_t result;

	if (policy->num_attempts == 0)
		return DOCA_ERROR_INVALID_VALUE;
	patient = calloc(1, sizeof(*patient));
	if (!patient)
		return DOCA_ERROR_NO_MEMORY;
	patient->dev = dev;
	patient->policy = *policy;
	if (!patient->policy.wait)
		patient->policy.wait = sleep_us;
	result = doca_pe_create(&patient->pe);
	if (result != DOCA_SUCCESS) {
		free(patient);
		return result;
	}
	*ret_patient = patient;
	return DOCA_SUCCESS;
}

void patient_destroy(struct patient *patient)
{
	if (!patient)
		return;
	doca_pe_destroy(patient->pe);
	free(patient);
}

/* The link may be back, the queue have room, the next one not be slow. What is wrong
 * with the request itself is wrong the next time, too. */
static bool may_pass(doca_error_t result)
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

static uint32_t next_wait_us(const struct patient_policy *policy, uint32_t wait_us)
{
	return wait_us > policy->most_wait_us / 2 ? policy->most_wait_us : wait_us * 2;
}

doca_error_t patient_copy(struct patient *patient, void *dst, const void *src, size_t len,
			  struct patient_report *ret_report)
{
	const struct patient_policy *policy = &patient->policy;
	struct patient_report report = { 0 };
	uint32_t wait_us = policy->first_wait_us;
	struct copy copy;
	doca_error_t result = copy_map(patient->dev, patient->pe, dst, src, len, &copy);

	while (result == DOCA_SUCCESS) {
		result = attempt(&copy, policy->deadline_ms);
		report.num_attempts++;
		report.num_late += result == DOCA_ERROR_TIME_OUT;
		if (!may_pass(result) || report.num_attempts == policy->num_attempts)
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
