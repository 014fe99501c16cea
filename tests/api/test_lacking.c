/* SPDX-License-Identifier: BSD-3-Clause */
/* A card with engines, on a machine whose libraries lack what does their work (libraries of the build with their names, and no
 * functions): the engines are not offered. */
#include "api_util.h"
#include "accel_util.h"

#include <doca_aes_gcm.h>
#include <doca_compress.h>
#include <doca_erasure_coding.h>
#include <doca_sha.h>

static void on_hash(struct doca_sha_task_hash *task, union doca_data user_data, union doca_data ctx_data)
{
}

static void test_sha_without_libcrypto_is_not_supported(void **state)
{
	struct accel *accel = accel_open();
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(accel->dev);
	struct doca_sha *sha;

	assert_doca(doca_sha_cap_task_hash_get_supported(devinfo, DOCA_SHA_ALGORITHM_SHA1), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_sha_cap_task_hash_get_supported(devinfo, DOCA_SHA_ALGORITHM_SHA1), DOCA_ERROR_NOT_SUPPORTED);
	MUST(doca_sha_create(accel->dev, &sha));
	MUST(doca_sha_task_hash_set_conf(sha, on_hash, on_hash, 0));
	MUST(doca_pe_connect_ctx(accel->pe, doca_sha_as_ctx(sha)));
	assert_doca(doca_ctx_start(doca_sha_as_ctx(sha)), DOCA_ERROR_NOT_SUPPORTED);
	MUST(doca_sha_destroy(sha));
	accel_close(accel);
}

static void test_compression_without_its_libraries_is_not_supported(void **state)
{
	struct accel *accel = accel_open();
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(accel->dev);

	assert_doca(doca_compress_cap_task_compress_deflate_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_compress_cap_task_decompress_deflate_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_compress_cap_task_decompress_lz4_stream_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_compress_cap_task_decompress_lz4_block_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	accel_close(accel);
}

static void test_erasure_coding_without_isal_is_not_supported(void **state)
{
	struct accel *accel = accel_open();
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(accel->dev);
	struct doca_ec_matrix *matrix;
	struct doca_ec *ec;

	assert_doca(doca_ec_cap_task_create_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	MUST(doca_ec_create(accel->dev, &ec));
	assert_doca(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1, &matrix), DOCA_ERROR_NOT_SUPPORTED);
	MUST(doca_ec_destroy(ec));
	accel_close(accel);
}

static void test_aes_gcm_without_libcrypto_is_not_supported(void **state)
{
	struct accel *accel = accel_open();
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(accel->dev);
	struct doca_aes_gcm *gcm;

	assert_doca(doca_aes_gcm_cap_task_encrypt_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_aes_gcm_cap_task_decrypt_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_aes_gcm_create(accel->dev, &gcm), DOCA_ERROR_NOT_SUPPORTED);
	accel_close(accel);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_sha_without_libcrypto_is_not_supported),
	cmocka_unit_test(test_compression_without_its_libraries_is_not_supported),
	cmocka_unit_test(test_aes_gcm_without_libcrypto_is_not_supported),
	cmocka_unit_test(test_erasure_coding_without_isal_is_not_supported),
};

static const char all_engines[] = ACCEL_CARD_WITH(
	"bluefield-2",
	"decompress-lz4: true, decompress-lz4-max-buf-bytes: 2 MiB, "
	"decompress-lz4-max-list-len: 1, decompress-lz4-max-tasks: 1, erasure-coding: true, "
	"erasure-coding-max-buf-bytes: 1 MiB, erasure-coding-max-list-len: 1, erasure-coding-max-tasks: 1, "
	"aes-gcm: true, aes-gcm-max-buf-bytes: 1 MiB, aes-gcm-max-list-len: 1, aes-gcm-max-tasks: 1");

int main(void)
{
	return API_RUN({ .name = "all engines", .topology = all_engines, .side = "dpu", API_WITH(tests) });
}
