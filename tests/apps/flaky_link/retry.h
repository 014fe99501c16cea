/* SPDX-License-Identifier: BSD-3-Clause */
/* retry.h - copies by DMA over a link that may fail, with a bounded number of retries.
 *
 *   copy --> [attempt] --done--> DOCA_SUCCESS
 *               ^  |failed, refused, or late
 *               |  v
 *             [wait: 1, 2, 4 ... ms]  --all attempts used, or no use to try again--> the last error
 *
 * A task that fails stops its context, and behind one that is late nothing may be
 * touched until its context is stopped: so each attempt has a context of its own,
 * which is gone when the attempt is over. Then the engine no longer writes to
 * the destination, and the next attempt can begin anew.
 *
 * One thread uses a struct retry at a time.
 */
#ifndef RETRY_H
#define RETRY_H

#include <stddef.h>
#include <stdint.h>

#include <doca_dev.h>
#include <doca_error.h>

struct retry;

struct retry_policy {
	uint32_t num_attempts;                     /* of one copy, at least 1 */
	uint32_t first_wait_us;                    /* before the second; then twice as long each time ... */
	uint32_t most_wait_us;                     /* ... up to this */
	uint32_t deadline_ms;                      /* of an attempt: a task that takes longer is given up */
	void (*wait)(void *arg, uint32_t wait_us); /* NULL = sleep; tests need not */
	void *arg;
};

/* The result of a copy. */
struct retry_report {
	uint32_t num_attempts;
	uint32_t num_late; /* of these, given up at the deadline */
};

/* @dev is borrowed. */
doca_error_t retry_create(struct doca_dev *dev, const struct retry_policy *policy, struct retry **ret_retry);
void retry_destroy(struct retry *retry);

/* Copy. On failure the destination may hold a part of it. Returns the last
 * attempt's error, DOCA_ERROR_TIME_OUT if that was late. @ret_report is set in
 * any case, and may be NULL. */
doca_error_t retry_copy(struct retry *retry, void *dst, const void *src, size_t len, struct retry_report *ret_report);

#endif
