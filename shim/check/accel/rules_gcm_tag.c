/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that plaintext is used only if its tag matched. A card writes plaintext before it compares the tag, so the
 * destination of a decryption that failed has bytes that anybody may have changed. */
#include <string.h>

#include "pcie_model/arith.h"
#include "shim/aes_gcm/gcm_inspect.h"
#include "shim/check/base/lock.h"
#include "shim/check/history/ctx_history.h"
#include "shim/check/history/task_ranges.h"
#include "task_rules.h"
#include "shim/check/base/probe.h"

#define MAX_UNVERIFIED 16 /* failed decryptions that are followed; further ones are not */
#define MAX_RANGES     16 /* of a task; of longer lists, the first */
#define SAMPLE_BYTES   64

/* What a failed decryption left at its destination. While the first bytes are as they were, it is the plaintext still. */
struct unverified {
	const uint8_t *begin;
	size_t len_bytes;
	uint8_t sample[SAMPLE_BYTES];
};

_Atomic uint32_t check_num_unverified;

static struct {
	struct check_lock lock;
	struct unverified texts[MAX_UNVERIFIED];
} unverified = { .lock = { ATOMIC_FLAG_INIT } };

static bool is_decrypt(const struct doca_task *task, struct gcm_task_view *ret_view)
{
	return gcm_inspect_task(task, ret_view) && !ret_view->is_encrypt;
}

bool check_tag_is_ignored(const struct doca_task *task)
{
	const struct shim_task_conf *conf;
	struct gcm_task_view gcm;

	if (!is_decrypt(task, &gcm))
		return false;
	conf = &shim_accel_task_conf(task)->tasks;
	return conf->done == conf->failed;
}

static size_t sample_len(const struct unverified *text)
{
	return min_size(text->len_bytes, SAMPLE_BYTES);
}

/* The memory holds what the task wrote. */
static bool has_sample(const struct unverified *text)
{
	uint8_t now[SAMPLE_BYTES];

	return check_read_bytes(now, text->begin, sample_len(text)) && memcmp(now, text->sample, sample_len(text)) == 0;
}

/* ---- what failed tasks left ---- */

static void add(const struct unverified *text)
{
	check_lock(&unverified.lock);
	if (check_num_unverified < MAX_UNVERIFIED)
		unverified.texts[check_num_unverified++] = *text;
	check_unlock(&unverified.lock);
}

/* The plaintext in the first segment that has some, of memory of this process. */
static bool find_text(const struct shim_buf_task *task, const struct gcm_task_view *gcm, struct unverified *ret_text)
{
	const struct shim_segments segments = shim_buf_task_segments(task);
	const struct shim_segment *dst = shim_segments_dst(&segments);
	uint64_t skip = gcm->aad_bytes, left = gcm->written;

	for (uint32_t i = 0; i < shim_segments_num_dst(&segments) && left > skip; i++, dst++) {
		size_t len = min_size(dst->bytes, left);

		if (len > skip && shim_buf_has_usable_mmap(dst->buf) && !dst->buf->mmap->remote) {
			ret_text->begin = (const uint8_t *)(uintptr_t)shim_buf_cpu_addr(dst->buf, dst->addr + skip);
			ret_text->len_bytes = len - skip;
			return check_read_bytes(ret_text->sample, ret_text->begin, sample_len(ret_text));
		}
		left -= len;
		skip -= min_size(len, skip);
	}
	return false;
}

static void task_failed(struct doca_task *task, doca_error_t status)
{
	struct unverified text;
	struct gcm_task_view gcm;

	(void)status;
	if (is_decrypt(task, &gcm) && !shim_to_buf_task(task)->snapshot.problem && !check_task_was_flushed(task) &&
	    find_text(shim_to_buf_task(task), &gcm, &text))
		add(&text);
}

/* ---- uses of it ---- */

/* Take out what overlaps with memory that is used. Returns false if there is none, or it was overwritten. */
static bool take(const uint8_t *addr, size_t len, struct unverified *ret_text)
{
	bool is_found = false;

	check_lock(&unverified.lock);
	for (uint32_t i = check_num_unverified; i-- > 0 && !is_found;) {
		const struct unverified *text = &unverified.texts[i];

		if (addr >= text->begin + text->len_bytes || text->begin >= addr + len)
			continue;
		*ret_text = *text;
		unverified.texts[i] = unverified.texts[--check_num_unverified];
		is_found = has_sample(ret_text);
	}
	check_unlock(&unverified.lock);
	return is_found;
}

#define USE_FORMAT \
	"%s: %s has %zu bytes that a decrypt task wrote, which then failed: the tag did not match, or was not compared"

static void leave_set_data(struct shim_call *call)
{
	const struct doca_buf *buf = check_arg(call, 0);
	struct unverified text;

	if (doca_likely(check_num_unverified == 0) || check_result(call) != DOCA_SUCCESS || buf->mmap->remote ||
	    !take((const uint8_t *)(uintptr_t)shim_buf_cpu_addr(buf, buf->data), buf->data_len, &text))
		return;
	check_hit_end(check_hit_begin(BFC_TAG_NOT_CHECKED, call, USE_FORMAT, check_call_name(call), "the buffer's data",
				      text.len_bytes));
}

static void report_source(const struct doca_task *task, const struct unverified *text)
{
	struct check_hit *hit = CHECK_HIT_HERE(BFC_TAG_NOT_CHECKED, USE_FORMAT, check_current_name("doca_task_submit"),
					       "the task's source", text->len_bytes);

	check_hit_add_ctx(hit, task->ctx);
	check_hit_end(hit);
}

void check_unverified_use(const struct doca_task *task)
{
	struct check_task_range ranges[MAX_RANGES];
	size_t count = min_size(check_task_get_ranges(task, ranges, MAX_RANGES), MAX_RANGES);
	struct unverified text;

	for (size_t i = 0; i < count; i++) {
		if (ranges[i].cpu && take(ranges[i].cpu, ranges[i].len_bytes, &text) && !ranges[i].is_write)
			report_source(task, &text);
	}
}

static void forked(void)
{
	check_lock_init(&unverified.lock);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_buf_set_data, NULL, leave_set_data },
	{ SHIM_FN_doca_buf_set_data_len, NULL, leave_set_data },
};

const struct check_part check_gcm_tag = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.task_failed = task_failed,
	.forked = forked,
};
