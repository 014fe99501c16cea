/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes with the libraries of the engines: each error code that their public headers name. On a BlueField-2, which has no
 * engine for erasure coding, and on a BlueField-3, which has none for SHA and deflate.
 *
 * Errors that can't be provoked here:
 * unreachable: doca_compress_create DOCA_ERROR_INITIALIZATION: a context has no mutex whose making could fail
 * unreachable: doca_ec_create DOCA_ERROR_INITIALIZATION: a context has no mutex whose making could fail
 * unreachable: doca_sha_create DOCA_ERROR_NOT_SUPPORTED: libcrypto computes the digests where a card does not
 * unreachable: doca_sha_job_get_supported DOCA_ERROR_NOT_SUPPORTED: libcrypto computes the digests where a card does not
 * unreachable: doca_sha_get_max_list_buf_num_elem DOCA_ERROR_NOT_SUPPORTED: libcrypto computes the digests where a card does not
 * unreachable: doca_sha_get_max_src_buffer_size DOCA_ERROR_NOT_SUPPORTED: libcrypto computes the digests where a card does not
 * unreachable: doca_sha_get_min_dst_buffer_size DOCA_ERROR_NOT_SUPPORTED: libcrypto computes the digests where a card does not
 * unreachable: doca_sha_partial_session_copy DOCA_ERROR_UNEXPECTED: the library keeps what a session has, which no program writes to
 */
#include <doca_compress.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_erasure_coding.h>
#include <doca_sha.h>

#include "api_util.h"
#include "rig.h"

static struct doca_dev *dev;
static struct doca_devinfo *devinfo;
static struct doca_workq *queue;
static struct doca_compress *compress;
static struct doca_sha *sha;
static struct doca_ec *ec;

/* ---- life ---- */

static doca_error_t step_compress(void)
{
	return doca_compress_create(&compress);
}

static doca_error_t step_sha(void)
{
	return doca_sha_create(&sha);
}

static doca_error_t step_ec(void)
{
	return doca_ec_create(&ec);
}

/* provokes: doca_compress_create DOCA_ERROR_NO_MEMORY
 * provokes: doca_ec_create DOCA_ERROR_NO_MEMORY
 * provokes: doca_sha_create DOCA_ERROR_NO_MEMORY */
static void test_contexts_are_made_once_there_is_memory(void **state)
{
	api_fail_each_allocation(step_compress, NULL);
	assert_ok(doca_compress_destroy(compress));
	api_fail_each_allocation(step_sha, NULL);
	assert_ok(doca_sha_destroy(sha));
	api_fail_each_allocation(step_ec, NULL);
	assert_ok(doca_ec_destroy(ec));
}

/* provokes: doca_compress_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_ec_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sha_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sha_destroy DOCA_ERROR_INVALID_VALUE */
static void test_a_handle_is_needed(void **state)
{
	assert_invalid(doca_compress_create(NULL));
	assert_invalid(doca_sha_create(NULL));
	assert_invalid(doca_ec_create(NULL));
	assert_invalid(doca_compress_destroy(NULL));
	assert_invalid(doca_sha_destroy(NULL));
	assert_invalid(doca_ec_destroy(NULL));
}

static void start(struct doca_ctx *ctx)
{
	assert_ok(doca_workq_create(1, &queue));
	assert_ok(doca_ctx_dev_add(ctx, dev));
	assert_ok(doca_ctx_start(ctx));
	assert_ok(doca_ctx_workq_add(ctx, queue));
}

static void stop(struct doca_ctx *ctx)
{
	assert_ok(doca_ctx_workq_rm(ctx, queue));
	assert_ok(doca_ctx_stop(ctx));
	assert_ok(doca_ctx_dev_rm(ctx, dev));
	assert_ok(doca_workq_destroy(queue));
}

/* provokes: doca_compress_destroy DOCA_ERROR_IN_USE
 * provokes: doca_ec_destroy DOCA_ERROR_IN_USE
 * provokes: doca_sha_destroy DOCA_ERROR_IN_USE */
static void test_a_context_with_a_queue_is_in_use(void **state)
{
	assert_ok(doca_compress_create(&compress));
	start(doca_compress_as_ctx(compress));
	assert_doca(doca_compress_destroy(compress), DOCA_ERROR_IN_USE);
	stop(doca_compress_as_ctx(compress));
	assert_ok(doca_compress_destroy(compress));
	assert_ok(doca_sha_create(&sha));
	start(doca_sha_as_ctx(sha));
	assert_doca(doca_sha_destroy(sha), DOCA_ERROR_IN_USE);
	stop(doca_sha_as_ctx(sha));
	assert_ok(doca_sha_destroy(sha));
	if (doca_ec_job_get_supported(devinfo, DOCA_EC_JOB_CREATE) != DOCA_SUCCESS)
		return;
	assert_ok(doca_ec_create(&ec));
	start(doca_ec_as_ctx(ec));
	assert_doca(doca_ec_destroy(ec), DOCA_ERROR_IN_USE);
	stop(doca_ec_as_ctx(ec));
	assert_ok(doca_ec_destroy(ec));
}

/* ---- capabilities ---- */

/* provokes: doca_compress_job_get_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_compress_get_max_buffer_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_compress_get_max_list_buf_num_elem DOCA_ERROR_INVALID_VALUE
 * provokes: doca_ec_job_get_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_ec_get_max_buffer_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_ec_get_max_list_buf_num_elem DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sha_job_get_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sha_get_hardware_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sha_get_max_list_buf_num_elem DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sha_get_max_src_buffer_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sha_get_min_dst_buffer_size DOCA_ERROR_INVALID_VALUE */
static void test_capabilities_need_a_device_a_known_job_and_a_place(void **state)
{
	uint64_t large = 7;
	uint32_t num = 7;

	assert_invalid(doca_compress_job_get_supported(NULL, DOCA_DECOMPRESS_DEFLATE_JOB));
	assert_invalid(doca_compress_job_get_supported(devinfo, DOCA_DECOMPRESS_LZ4_JOB + 1));
	assert_invalid(doca_compress_get_max_buf_size(devinfo, DOCA_DECOMPRESS_DEFLATE_JOB, NULL));
	assert_invalid(doca_compress_get_max_buffer_size(NULL, DOCA_DECOMPRESS_DEFLATE_JOB, &num));
	assert_invalid(doca_compress_get_max_buffer_size(devinfo, DOCA_DECOMPRESS_LZ4_JOB + 1, &num));
	assert_invalid(doca_compress_get_max_buffer_size(devinfo, DOCA_DECOMPRESS_DEFLATE_JOB, NULL));
	assert_invalid(doca_compress_get_max_list_buf_num_elem(NULL, &num));
	assert_invalid(doca_ec_job_get_supported(NULL, DOCA_EC_JOB_CREATE));
	assert_invalid(doca_ec_job_get_supported(devinfo, DOCA_EC_JOB_RECOVER + 1));
	assert_invalid(doca_ec_get_max_buffer_size(devinfo, DOCA_EC_JOB_CREATE, NULL));
	assert_invalid(doca_ec_get_max_list_buf_num_elem(NULL, &num));
	assert_invalid(doca_sha_job_get_supported(NULL, DOCA_SHA_JOB_SHA1));
	assert_invalid(doca_sha_job_get_supported(devinfo, DOCA_SHA_JOB_SHA512_PARTIAL + 1));
	assert_invalid(doca_sha_get_hardware_supported(NULL));
	assert_invalid(doca_sha_get_max_list_buf_num_elem(devinfo, NULL));
	assert_invalid(doca_sha_get_max_src_buffer_size(NULL, &large));
	assert_invalid(doca_sha_get_min_dst_buffer_size(devinfo, DOCA_SHA_JOB_SHA512_PARTIAL + 1, &num));
	assert_int_equal(num, 7);
	assert_int_equal(large, 7);
}

/* provokes: doca_compress_job_get_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_compress_get_max_buffer_size DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_ec_job_get_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_ec_get_max_buffer_size DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sha_get_hardware_supported DOCA_ERROR_NOT_SUPPORTED */
static void test_a_card_without_the_engine_says_so(void **state)
{
	bool is_bluefield_2 = doca_sha_get_hardware_supported(devinfo) == DOCA_SUCCESS;
	doca_error_t in_2 = is_bluefield_2 ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
	doca_error_t in_3 = is_bluefield_2 ? DOCA_ERROR_NOT_SUPPORTED : DOCA_SUCCESS;
	uint32_t num;

	assert_doca(doca_sha_get_hardware_supported(devinfo), in_2);
	assert_doca(doca_compress_job_get_supported(devinfo, DOCA_COMPRESS_DEFLATE_JOB), in_2);
	assert_doca(doca_compress_get_max_buffer_size(devinfo, DOCA_COMPRESS_DEFLATE_JOB, &num), in_2);
	assert_doca(doca_ec_job_get_supported(devinfo, DOCA_EC_JOB_UPDATE), in_3);
	assert_doca(doca_ec_get_max_buffer_size(devinfo, DOCA_EC_JOB_UPDATE, &num), in_3);
}

/* ---- sessions ---- */

/* provokes: doca_sha_partial_session_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sha_partial_session_create DOCA_ERROR_NO_MEMORY
 * provokes: doca_sha_partial_session_copy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sha_partial_session_destroy DOCA_ERROR_INVALID_VALUE */
static void test_sessions_are_of_a_context_and_its_queue(void **state)
{
	struct doca_sha_partial_session *session, *another;

	assert_ok(doca_sha_create(&sha));
	start(doca_sha_as_ctx(sha));
	assert_invalid(doca_sha_partial_session_create(sha, NULL, &session));
	assert_invalid(doca_sha_partial_session_create(sha, queue, NULL));
	assert_ok(doca_sha_partial_session_create(sha, queue, &session));
	assert_doca(doca_sha_partial_session_create(sha, queue, &another), DOCA_ERROR_NO_MEMORY);
	assert_invalid(doca_sha_partial_session_copy(sha, queue, session, NULL));
	assert_invalid(doca_sha_partial_session_copy(sha, queue, NULL, session));
	assert_invalid(doca_sha_partial_session_destroy(sha, queue, NULL));
	assert_ok(doca_sha_partial_session_destroy(sha, queue, session));
	stop(doca_sha_as_ctx(sha));
	assert_ok(doca_sha_destroy(sha));
}

/* ---- matrices ---- */

/* provokes: doca_ec_matrix_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_ec_matrix_from_raw DOCA_ERROR_INVALID_VALUE
 * provokes: doca_ec_matrix_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_ec_recover_matrix_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_ec_update_matrix_create DOCA_ERROR_INVALID_VALUE */
static void test_matrices_have_blocks_and_indices_in_them(void **state)
{
	uint8_t raw[] = { 1, 1 };
	uint32_t indices[] = { 0, 3 };
	struct doca_matrix *coding, *matrix;

	assert_ok(doca_ec_create(&ec));
	assert_invalid(doca_ec_matrix_create(ec, DOCA_CODING_MATRIX_CAUCHY, 0, 1, &coding));
	assert_invalid(doca_ec_matrix_create(NULL, DOCA_CODING_MATRIX_CAUCHY, 2, 1, &coding));
	assert_invalid(doca_ec_matrix_from_raw(ec, NULL, 2, 1, &coding));
	assert_ok(doca_ec_matrix_from_raw(ec, raw, 2, 1, &coding));
	assert_invalid(doca_ec_recover_matrix_create(coding, ec, indices, 2, &matrix));
	assert_invalid(doca_ec_recover_matrix_create(NULL, ec, indices, 1, &matrix));
	assert_invalid(doca_ec_update_matrix_create(coding, ec, indices, 2, &matrix));
	assert_invalid(doca_ec_update_matrix_create(coding, ec, NULL, 1, &matrix));
	assert_invalid(doca_ec_matrix_destroy(NULL));
	assert_ok(doca_ec_matrix_destroy(coding));
	assert_ok(doca_ec_destroy(ec));
}

static int open_first(void **state)
{
	dev = rig_open(0);
	devinfo = doca_dev_as_devinfo(dev);
	return 0;
}

static int close_first(void **state)
{
	assert_ok(doca_dev_close(dev));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contexts_are_made_once_there_is_memory),
		cmocka_unit_test(test_a_handle_is_needed),
		cmocka_unit_test(test_a_context_with_a_queue_is_in_use),
		cmocka_unit_test(test_capabilities_need_a_device_a_known_job_and_a_place),
		cmocka_unit_test(test_a_card_without_the_engine_says_so),
		cmocka_unit_test(test_sessions_are_of_a_context_and_its_queue),
		cmocka_unit_test(test_matrices_have_blocks_and_indices_in_them),
	};

	return cmocka_run_group_tests(tests, open_first, close_first);
}
