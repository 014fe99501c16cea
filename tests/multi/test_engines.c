/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines besides DMA on memory of another process, which they read and write over each data path: digests, and a text that is
 * compressed and decompressed there. */
#include <stdlib.h>
#include <string.h>

#include <doca_compress.h>
#include <doca_sha.h>

#include "cmocka_test.h"
#include "tests/api/accel_util.h"
#include "two_sides.h"
#include "doca_check.h"

#define BYTES ((size_t)1 << 20)
#define QUART (BYTES / 4)

/* A host whose memory is imported. */
struct rig {
	struct host host;
	struct accel *accel;
	struct doca_mmap *import;
};

static struct rig open_rig(bool writable)
{
	const char *path = getenv("BFSIM_PATH");
	struct host_cfg cfg = {
		.bytes = BYTES, .writable = writable, .shared = path && strcmp(path, "mapped") == 0, .wait = HOST_SLEEPS
	};
	struct rig rig = { 0 };

	host_start(&rig.host, &cfg);
	rig.accel = accel_open();
	MUST(doca_mmap_create_from_export(NULL, rig.host.descriptor, rig.host.descriptor_bytes, rig.accel->dev,
					  &rig.import));
	return rig;
}

static void close_rig(struct rig *rig)
{
	accel_reset(rig->accel);
	MUST(doca_mmap_destroy(rig->import));
	accel_close(rig->accel);
	host_end(&rig->host);
}

/* A list of three buffers over [@offset, @offset + @len) of the host's memory, as a source or a destination. */
static struct doca_buf *host_list(struct rig *rig, size_t offset, size_t len, bool has_data)
{
	struct doca_buf *list = NULL;

	for (int i = 0; i < 3; i++) {
		uint8_t *addr = (uint8_t *)(uintptr_t)rig->host.addr + offset + len / 3 * (size_t)i;
		size_t part = i < 2 ? len / 3 : len - len / 3 * 2;
		struct doca_buf *buf;

		MUST(doca_buf_inventory_buf_get_by_args(rig->accel->inventory, rig->import, addr, part, addr,
							has_data ? part : 0, &buf));
		rig->accel->bufs[rig->accel->num_bufs++] = buf;
		if (list)
			MUST(doca_buf_chain_list(list, buf));
		else
			list = buf;
	}
	return list;
}

static size_t list_data_len(struct doca_buf *list)
{
	size_t len, sum = 0;

	while (list) {
		MUST(doca_buf_get_data_len(list, &len));
		sum += len;
		MUST(doca_buf_get_next_in_list(list, &list));
	}
	return sum;
}

static void make_pattern(uint8_t *to, size_t offset, size_t len)
{
	for (size_t i = 0; i < len; i++)
		to[i] = host_pattern(offset + i);
}

/* ---- SHA ---- */

static void on_hash(struct doca_sha_task_hash *task, union doca_data user_data, union doca_data ctx_data)
{
}

static void hash(struct rig *rig, struct doca_sha *sha, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_sha_task_hash *task;

	MUST(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA512, src, dst, (union doca_data){ 0 }, &task));
	assert_ok(accel_run(rig->accel, doca_sha_task_hash_as_task(task)));
	doca_task_free(doca_sha_task_hash_as_task(task));
}

/* The digest of the host's memory goes to the host's memory. The digest of that is the same as of the local digest. */
static void test_digest_of_a_hosts_memory(void **state)
{
	static uint8_t text[BYTES];
	struct rig rig = open_rig(true);
	struct doca_buf *local_digest = accel_dst(rig.accel, 64), *remote_digest = host_list(&rig, 0, 64, false);
	struct doca_buf *of_local = accel_dst(rig.accel, 64), *of_remote = accel_dst(rig.accel, 64);
	uint8_t expected[64], digest[64];
	struct doca_sha *sha;

	MUST(doca_sha_create(rig.accel->dev, &sha));
	MUST(doca_sha_task_hash_set_conf(sha, on_hash, on_hash, 0));
	accel_start(rig.accel, doca_sha_as_ctx(sha));
	make_pattern(text, 64, BYTES - 64);
	hash(&rig, sha, accel_src(rig.accel, text, BYTES - 64), local_digest);
	hash(&rig, sha, host_list(&rig, 64, BYTES - 64, true), remote_digest);
	assert_int_equal(list_data_len(remote_digest), 64);
	hash(&rig, sha, local_digest, of_local);
	hash(&rig, sha, remote_digest, of_remote);
	assert_int_equal(accel_data(of_local, expected, 64), 64);
	assert_int_equal(accel_data(of_remote, digest, 64), 64);
	assert_memory_equal(digest, expected, 64);
	accel_stop(rig.accel);
	MUST(doca_sha_destroy(sha));
	close_rig(&rig);
}

/* ---- compression ---- */

static void on_deflated(struct doca_compress_task_compress_deflate *task, union doca_data user_data,
			union doca_data ctx_data)
{
}

static void on_inflated(struct doca_compress_task_decompress_deflate *task, union doca_data user_data,
			union doca_data ctx_data)
{
}

static doca_error_t run_deflate(struct rig *rig, struct doca_compress *compress, const struct doca_buf *src,
				struct doca_buf *dst)
{
	struct doca_compress_task_compress_deflate *task;
	doca_error_t result;

	MUST(doca_compress_task_compress_deflate_alloc_init(compress, src, dst, (union doca_data){ 0 }, &task));
	result = accel_run(rig->accel, doca_compress_task_compress_deflate_as_task(task));
	doca_task_free(doca_compress_task_compress_deflate_as_task(task));
	return result;
}

static struct doca_compress *open_compress(struct rig *rig)
{
	struct doca_compress *compress;

	MUST(doca_compress_create(rig->accel->dev, &compress));
	MUST(doca_compress_task_compress_deflate_set_conf(compress, on_deflated, on_deflated, 1));
	MUST(doca_compress_task_decompress_deflate_set_conf(compress, on_inflated, on_inflated, 1));
	accel_start(rig->accel, doca_compress_as_ctx(compress));
	return compress;
}

/* From the host's memory to the host's memory, and from there to local memory. */
static void test_hosts_memory_is_compressed_and_decompressed(void **state)
{
	static uint8_t text[QUART], expected[QUART];
	struct rig rig = open_rig(true);
	struct doca_compress *compress = open_compress(&rig);
	struct doca_compress_task_decompress_deflate *task;
	struct doca_buf *packed = host_list(&rig, 2 * QUART, 2 * QUART, false),
			*dst = accel_dst_list(rig.accel, QUART, 4);

	assert_ok(run_deflate(&rig, compress, host_list(&rig, 0, QUART, true), packed));
	MUST(doca_compress_task_decompress_deflate_alloc_init(compress, packed, dst, (union doca_data){ 0 }, &task));
	assert_ok(accel_run(rig.accel, doca_compress_task_decompress_deflate_as_task(task)));
	doca_task_free(doca_compress_task_decompress_deflate_as_task(task));
	assert_int_equal(accel_data(dst, text, QUART), QUART);
	make_pattern(expected, 0, QUART);
	assert_memory_equal(text, expected, QUART);
	accel_stop(rig.accel);
	MUST(doca_compress_destroy(compress));
	close_rig(&rig);
}

static void test_memory_that_was_exported_read_only_is_not_written(void **state)
{
	struct rig rig = open_rig(false);
	struct doca_compress *compress = open_compress(&rig);

	assert_doca(run_deflate(&rig, compress, accel_src(rig.accel, "text", 4), host_list(&rig, 0, 64, false)),
		    DOCA_ERROR_NOT_PERMITTED);
	accel_stop(rig.accel);
	MUST(doca_compress_destroy(compress));
	close_rig(&rig);
}

/* As soon as the daemon has told of the death, a task fails, and the context stops. */
static void test_memory_of_a_dead_host_fails_a_task(void **state)
{
	struct rig rig = open_rig(true);
	struct doca_compress *compress = open_compress(&rig);
	struct doca_buf *src = host_list(&rig, 0, QUART, true), *dst = accel_dst(rig.accel, QUART);
	doca_error_t result;

	host_kill(&rig.host);
	do {
		MUST(doca_buf_reset_data_len(dst));
		result = run_deflate(&rig, compress, src, dst);
	} while (result == DOCA_SUCCESS);
	assert_doca(result, DOCA_ERROR_IO_FAILED);
	accel_stop(rig.accel);
	MUST(doca_compress_destroy(compress));
	accel_reset(rig.accel);
	MUST(doca_mmap_destroy(rig.import));
	accel_close(rig.accel);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_digest_of_a_hosts_memory),
		cmocka_unit_test(test_hosts_memory_is_compressed_and_decompressed),
		cmocka_unit_test(test_memory_that_was_exported_read_only_is_not_written),
		cmocka_unit_test(test_memory_of_a_dead_host_fails_a_task),
	};

	two_sides_main(argc, argv);
	return cmocka_run_group_tests(tests, session_start, session_end);
}
