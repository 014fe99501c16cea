/* SPDX-License-Identifier: BSD-3-Clause */
/* What AES-GCM tasks of both types check and do. */
#include <errno.h>
#include <string.h>

#include "gcm_priv.h"
#include "pcie_model/arith.h"
#include "shim/common/base/check.h"

/* ---- submission ---- */

static doca_error_t refuse(const struct gcm_task *task, const char *problem)
{
	sim_err("doca_task_submit: a task of %s: %s", shim_accel_task_type(&task->base.base.task)->func, problem);
	return DOCA_ERROR_INVALID_VALUE;
}

static const char *find_param_problem(const struct gcm_task *task)
{
	if (!shim_object_is(task->key, SHIM_AES_GCM_KEY))
		return "its key is NULL or was destroyed";
	if (&task->key->aes_gcm->accel.ctx != task->base.base.task.ctx)
		return "its key is another instance's; create one with doca_aes_gcm_key_create() of the task's instance";
	if (task->iv_bytes == 0)
		return "its IV has no bytes; give 1 to 12 (doca_aes_gcm_cap_task_encrypt_get_max_iv_len)";
	if (task->tag_bytes != 12 && task->tag_bytes != 16)
		return "its tag size is neither 12 nor 16 bytes";
	return NULL;
}

static bool is_encryption(const struct shim_accel_task *task)
{
	return shim_accel_task_type(&task->base.task)->index == GCM_ENCRYPT;
}

/* The tag counts on the side of the ciphertext. */
static doca_error_t check_sizes(const struct gcm_task *task, uint64_t src_bytes, uint64_t room_bytes)
{
	bool encrypts = is_encryption(&task->base);
	uint64_t least = task->aad_bytes + (encrypts ? UINT64_C(0) : task->tag_bytes), output;

	if (doca_unlikely(src_bytes < least)) {
		sim_err("doca_task_submit: a task of %s: the source has %llu bytes, and %s have %llu",
			shim_accel_task_type(&task->base.base.task)->func, (unsigned long long)src_bytes,
			encrypts ? "its AAD would" : "AAD and tag", (unsigned long long)least);
		return DOCA_ERROR_INVALID_VALUE;
	}
	output = encrypts ? src_bytes + task->tag_bytes : src_bytes - task->tag_bytes;
	if (doca_likely(room_bytes >= output))
		return DOCA_SUCCESS;
	sim_err("doca_task_submit: a task of %s: the destination has room for %llu bytes behind its data, and the output has %llu",
		shim_accel_task_type(&task->base.base.task)->func, (unsigned long long)room_bytes,
		(unsigned long long)output);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t gcm_check(struct shim_accel_task *accel_task, const struct shim_list_size *src,
		       const struct shim_list_size *dst)
{
	struct gcm_task *task = (struct gcm_task *)accel_task;
	const char *problem = find_param_problem(task);
	doca_error_t result;

	if (doca_unlikely(problem != NULL))
		return refuse(task, problem);
	result = check_sizes(task, src->data_bytes, dst->room_bytes);
	return doca_likely(result == DOCA_SUCCESS) ? shim_accel_hold_for(accel_task, &task->hold, task->key->cipher) :
						     result;
}

uint64_t gcm_get_output_bytes(const struct shim_accel_task *accel_task)
{
	const struct gcm_task *task = (const struct gcm_task *)accel_task;
	uint64_t src_bytes = accel_task->base.snapshot.bytes;

	return is_encryption(accel_task) ? src_bytes + task->tag_bytes : src_bytes - task->tag_bytes;
}

/* ---- the job ---- */

/* A task at work: the source, of which @data is the piece that was read. */
struct message {
	struct shim_work *work;
	struct gcm_cipher *cipher;
	const uint8_t *data;
	size_t len;
};

static const struct gcm_task *task_of(const struct shim_work *work)
{
	return (const struct gcm_task *)work->task;
}

static int begin(struct message *message, struct shim_work *work, bool encrypts)
{
	const struct gcm_task *task = task_of(work);

	*message = (struct message){ .work = work, .cipher = task->hold->held };
	return gcm_begin(message->cipher, encrypts, task->iv, task->iv_bytes);
}

/* Get the next bytes of the source, at most @max. Returns their number; 0 = reading failed, as the source has @max bytes. */
static size_t take(struct message *message, uint64_t max, const uint8_t **ret_data)
{
	size_t len;

	if (message->len == 0 && !shim_work_read(message->work, &message->data, &message->len))
		return 0;
	len = (size_t)min_u64(message->len, max);
	*ret_data = message->data;
	message->data += len;
	message->len -= len;
	return len;
}

static int failed_read(const struct message *message)
{
	return message->work->rc < 0 ? message->work->rc : -EIO;
}

/* The AAD goes to the output as it is. */
static int pass_aad(struct message *message, uint64_t left)
{
	const uint8_t *data;
	size_t len;
	int rc = 0;

	for (; left > 0 && rc == 0; left -= len) {
		len = take(message, left, &data);
		if (len == 0)
			return failed_read(message);
		rc = gcm_add_aad(message->cipher, data, len);
		if (rc == 0)
			rc = shim_work_append(message->work, data, len);
	}
	return rc;
}

static int crypt_piece(struct message *message, const uint8_t *data, size_t left)
{
	uint8_t *room;
	size_t len;
	int rc = 0;

	for (; left > 0 && rc == 0; data += len, left -= len) {
		if (!shim_work_room(message->work, &room, &len))
			return message->work->rc < 0 ? message->work->rc : -ENOSPC;
		len = min_size(len, left);
		rc = gcm_crypt(message->cipher, room, data, len);
		if (rc == 0)
			rc = shim_work_wrote(message->work, len);
	}
	return rc;
}

static int crypt_text(struct message *message, uint64_t left)
{
	const uint8_t *data;
	size_t len;
	int rc = 0;

	for (; left > 0 && rc == 0; left -= len) {
		len = take(message, left, &data);
		rc = len > 0 ? crypt_piece(message, data, len) : failed_read(message);
	}
	return rc;
}

static int read_tag(struct message *message, uint8_t *tag, size_t left)
{
	const uint8_t *data;

	for (size_t len; left > 0; tag += len, left -= len) {
		len = take(message, left, &data);
		if (len == 0)
			return failed_read(message);
		memcpy(tag, data, len);
	}
	return 0;
}

/* What the fault "bad_tag" does, once. */
static void spoil(struct shim_work *work, uint8_t *tag)
{
	struct gcm_task *task = (struct gcm_task *)work->task;

	if (doca_unlikely(task->has_bad_tag))
		tag[0] ^= 1;
	task->has_bad_tag = false;
}

int gcm_encrypt(struct shim_work *work)
{
	const struct gcm_task *task = task_of(work);
	uint8_t tag[GCM_MAX_TAG_BYTES];
	struct message message;
	int rc = begin(&message, work, true);

	if (rc == 0)
		rc = pass_aad(&message, task->aad_bytes);
	if (rc == 0)
		rc = crypt_text(&message, work->src_bytes - task->aad_bytes);
	if (rc == 0)
		rc = gcm_end_encrypt(message.cipher, tag, task->tag_bytes);
	if (rc < 0)
		return rc;
	spoil(work, tag);
	return shim_work_append(work, tag, task->tag_bytes);
}

/* As on a card, plaintext is at the destination before the tag is known to match. */
int gcm_decrypt(struct shim_work *work)
{
	const struct gcm_task *task = task_of(work);
	uint8_t tag[GCM_MAX_TAG_BYTES];
	struct message message;
	int rc = begin(&message, work, false);

	if (rc == 0)
		rc = pass_aad(&message, task->aad_bytes);
	if (rc == 0)
		rc = crypt_text(&message, work->src_bytes - task->aad_bytes - task->tag_bytes);
	if (rc == 0)
		rc = read_tag(&message, tag, task->tag_bytes);
	if (rc < 0)
		return rc;
	spoil(work, tag);
	return gcm_end_decrypt(message.cipher, tag, task->tag_bytes);
}

void gcm_spoil_tag(struct shim_accel_task *task)
{
	((struct gcm_task *)task)->has_bad_tag = true;
}
