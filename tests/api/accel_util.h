/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/accel_util.h - a rig for tasks with a source and a destination: SHA, compress and others.
 *
 *   struct accel *accel = accel_open();                   a device, memory, buffers, a progress engine
 *   MUST(doca_sha_create(accel->dev, &sha)); ... set_conf
 *   accel_start(accel, doca_sha_as_ctx(sha));
 *   status = accel_run(accel, doca_sha_task_hash_as_task(task));
 *   accel_stop(accel); MUST(doca_sha_destroy(sha)); accel_close(accel);
 *
 * The first half of the arena is for sources, the second for destinations. What the rig calls must succeed.
 */
#ifndef TESTS_API_ACCEL_UTIL_H
#define TESTS_API_ACCEL_UTIL_H

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACCEL_HALF_BYTES ((size_t)8 << 20)
#define ACCEL_FILL       0xa5 /* of destinations */

/* The DPU's side of a card of the profile, and with capabilities of the test's own. */
#define ACCEL_CARD_WITH(profile, caps)                       \
	"cards:\n  - profile: " profile "\n    functions:\n" \
	"      - {side: dpu, type: pf, pci: \"03:00.0\", caps: {" caps "}}\n"
#define ACCEL_BLUEFIELD_2 \
	"cards:\n  - profile: bluefield-2\n    functions:\n      - {side: dpu, type: pf, pci: \"03:00.0\"}\n"
/* The host's side of a card in NIC mode. */
#define ACCEL_NIC \
	"cards:\n  - profile: bluefield-3\n    mode: nic\n    functions:\n      - {side: host, type: pf, pci: \"03:00.0\"}\n"

struct accel {
	struct doca_dev *dev;
	struct doca_mmap *mmap; /* over the arena, local read and write */
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;
	struct doca_ctx *ctx; /* the one that was started */
	uint8_t *arena;
	size_t src_used, dst_used; /* of the halves */
	struct doca_buf *bufs[4096];
	size_t num_bufs;
	uint32_t seed;
};

struct accel *accel_open(void);
void accel_close(struct accel *accel);

/* Connect and start a context; stop it again, with its tasks freed. */
void accel_start(struct accel *accel, struct doca_ctx *ctx);
void accel_stop(struct accel *accel);

/* Take back all buffers and memory of sources and destinations. */
void accel_reset(struct accel *accel);

/* A number below @below, the same in each run. */
uint32_t accel_random(struct accel *accel, uint32_t below);

/* A source with a copy of @data; as a list of @pieces buffers whose sizes chance decides. */
struct doca_buf *accel_src(struct accel *accel, const void *data, size_t len);
struct doca_buf *accel_src_list(struct accel *accel, const void *data, size_t len, uint32_t pieces);

/* A destination of @len bytes of room, filled with ACCEL_FILL, and followed by a byte of it that must stay. */
struct doca_buf *accel_dst(struct accel *accel, size_t len);
struct doca_buf *accel_dst_list(struct accel *accel, size_t len, uint32_t pieces);

/* Copy the data of a list to @to, at most @max bytes. Returns its length. */
size_t accel_data(const struct doca_buf *list, uint8_t *to, size_t max);

/* Whether all bytes of the destinations that are no data have ACCEL_FILL. */
bool accel_rest_is_untouched(const struct accel *accel);

/* Progress until nothing is in flight. */
void accel_drain(struct accel *accel);

/* Submit a task, whose callbacks do nothing, and return its status; or what the submission returned. */
doca_error_t accel_run(struct accel *accel, struct doca_task *task);

#endif
