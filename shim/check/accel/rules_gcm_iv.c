/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that no IV encrypts two messages with one key. Two instances, or two handles, may have the same key: keys are known
 * by their bytes. Of keys and of IVs, fingerprints are kept. */
#include <stdio.h>
#include <string.h>

#include "shim/aes_gcm/gcm_inspect.h"
#include "shim/check/base/lock.h"
#include "shim/check/history/tasks_in_flight.h"
#include "task_rules.h"

#define NUM_PLACES (UINT64_C(1) << 16) /* for uses; of two in one place, the last is known */
#define MAX_KEYS   256                 /* that live; further ones are not watched */

struct key {
	const struct doca_aes_gcm_key *handle;
	uint64_t print; /* never 0 */
};

static struct {
	struct check_lock lock;
	struct key live[MAX_KEYS];
	uint32_t count;
} keys = { .lock = { ATOMIC_FLAG_INIT } };

/* The encryptions that were submitted: fingerprints of key and IV, and where. */
static struct {
	_Atomic uint64_t print;
	const void *_Atomic caller;
} uses[NUM_PLACES];

/* ---- fingerprints ---- */

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static uint64_t add_bytes(uint64_t print, const uint8_t *bytes, size_t len)
{
	uint64_t word;

	for (size_t i = 0; i < len; i += sizeof(word)) {
		word = 0;
		memcpy(&word, bytes + i, len - i < sizeof(word) ? len - i : sizeof(word));
		print = mix(print + 0x9e3779b97f4a7c15 + word);
	}
	return mix(print + len) | 1;
}

/* 0 = the key is not known. */
static uint64_t print_of_key(const struct doca_aes_gcm_key *handle)
{
	uint64_t print = 0;

	check_lock(&keys.lock);
	for (uint32_t i = 0; i < keys.count && print == 0; i++)
		if (keys.live[i].handle == handle)
			print = keys.live[i].print;
	check_unlock(&keys.lock);
	return print;
}

static uint64_t print_of_use(const struct gcm_task_view *task)
{
	uint64_t key = print_of_key(task->key);

	return key ? add_bytes(key, task->iv, task->iv_bytes) : 0;
}

static size_t place_of(uint64_t print)
{
	return mix(print) % NUM_PLACES;
}

/* ---- keys ---- */

static void add_key(const struct doca_aes_gcm_key *handle, const uint8_t *bytes, size_t len)
{
	check_lock(&keys.lock);
	if (keys.count < MAX_KEYS)
		keys.live[keys.count++] = (struct key){ handle, add_bytes(0, bytes, len) };
	check_unlock(&keys.lock);
}

static void leave_create(struct shim_call *call)
{
	if (check_result(call) == DOCA_SUCCESS)
		add_key(*(struct doca_aes_gcm_key *const *)check_arg(call, 3), check_arg(call, 1),
			(enum doca_aes_gcm_key_type)call->args[2] == DOCA_AES_GCM_KEY_128 ? 16 : 32);
}

static void enter_destroy(struct shim_call *call)
{
	check_lock(&keys.lock);
	for (uint32_t i = 0; i < keys.count; i++)
		if (keys.live[i].handle == check_arg(call, 0))
			keys.live[i] = keys.live[--keys.count];
	check_unlock(&keys.lock);
}

/* ---- uses ---- */

static void format_iv(const struct gcm_task_view *task, char text[2 * GCM_MAX_IV_BYTES + 1])
{
	text[0] = '\0';
	for (uint32_t i = 0; i < task->iv_bytes; i++)
		snprintf(text + 2 * (size_t)i, 3, "%02x", task->iv[i]);
}

static void report(const struct doca_ctx *ctx, const struct gcm_task_view *task, const void *earlier)
{
	struct check_stack stack = check_stack_of(earlier);
	char iv[2 * GCM_MAX_IV_BYTES + 1];
	struct check_hit *hit;

	format_iv(task, iv);
	hit = CHECK_HIT_HERE(BFC_IV_REUSED, "%s: an earlier task was encrypted with the same key and the same IV, %s",
			     check_current_name("doca_task_submit"), iv);
	if (earlier)
		check_hit_add_party(hit, 0, &stack, "the earlier task was submitted");
	check_hit_add_object(hit, "key", task->key, NULL);
	check_hit_add_ctx(hit, ctx);
	check_hit_end(hit);
}

void check_gcm_iv_use(const struct doca_task *task)
{
	const struct shim_call *call = check_watched_call();
	struct gcm_task_view gcm;
	const void *earlier;
	uint64_t print;

	if (!gcm_inspect_task(task, &gcm) || !gcm.is_encrypt || (print = print_of_use(&gcm)) == 0)
		return;
	earlier = atomic_exchange_explicit(&uses[place_of(print)].caller, call ? call->caller : NULL,
					   memory_order_relaxed);
	if (doca_unlikely(atomic_exchange_explicit(&uses[place_of(print)].print, print, memory_order_relaxed) == print))
		report(task->ctx, &gcm, earlier);
}

/* The task encrypted nothing: its IV may be used again. */
static void forget(const struct doca_task *task)
{
	struct gcm_task_view gcm;
	uint64_t print;

	if (!gcm_inspect_task(task, &gcm) || !gcm.is_encrypt)
		return;
	print = print_of_use(&gcm);
	if (print != 0)
		atomic_compare_exchange_strong(&uses[place_of(print)].print, &print, 0);
}

static void task_refused(struct doca_task *task)
{
	forget(task);
}

static void task_failed(struct doca_task *task, doca_error_t status)
{
	(void)status;
	forget(task);
}

static void forked(void)
{
	check_lock_init(&keys.lock);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_aes_gcm_key_create, NULL, leave_create },
	{ SHIM_FN_doca_aes_gcm_key_destroy, enter_destroy, NULL },
};

const struct check_part check_gcm_iv = {
	CHECK_WATCHES(watches),     .mode = SIM_CHECK_API, .task_refused = task_refused,
	.task_failed = task_failed, .forked = forked,
};
