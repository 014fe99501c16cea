/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes with RDMA: the code and the log line of each call, each error code that the public header names. Card: data/poor.yaml.
 *
 * Errors that can't be provoked here:
 * unreachable: doca_rdma_create DOCA_ERROR_INITIALIZATION: a context has no mutex whose making could fail
 * unreachable: doca_rdma_job_get_supported DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_rdma_get_transport_type_supported DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_rdma_get_max_recv_queue_size DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_rdma_get_max_send_queue_size DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_rdma_get_max_message_size DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_rdma_get_max_buf_chain_len DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_rdma_get_gid_table_size DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_rdma_get_gid DOCA_ERROR_DRIVER: it is in the topology
 * unreachable: doca_rdma_set_mtu DOCA_ERROR_UNEXPECTED: nothing else can fail
 */
#include <string.h>

#include "api_util.h"
#include "rdma_rig.h"
#include "refuse.h"

/* ---- handles ---- */

static struct doca_rdma *made;

static doca_error_t step_create(void)
{
	return doca_rdma_create(&made);
}

/* provokes: doca_rdma_create DOCA_ERROR_NO_MEMORY
 * provokes: doca_rdma_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_destroy DOCA_ERROR_BAD_STATE */
static void test_contexts_are_made_and_destroyed(void **state)
{
	struct end *end;

	api_need_allocator();
	end = end_new(0);
	api_fail_each_allocation(step_create, NULL);
	assert_ok(doca_rdma_destroy(made));
	assert_refused_invalid(doca_rdma_create(NULL));
	end_start(end);
	assert_refused(doca_rdma_destroy(end->rdma), DOCA_ERROR_BAD_STATE);
	assert_null(doca_rdma_as_ctx(NULL));
	end_close(end);
}

/* A start makes the core's context, its engine and its connection. */
static struct end *started;

static doca_error_t step_start(void)
{
	doca_error_t result = doca_ctx_start(started->ctx);

	return result == DOCA_ERROR_INITIALIZATION ? DOCA_ERROR_NO_MEMORY : result;
}

/* provokes: doca_ctx_start DOCA_ERROR_INITIALIZATION */
static void test_a_start_is_repeated_once_there_is_memory(void **state)
{
	api_need_allocator();
	started = end_new(0);
	api_fail_each_allocation(step_start, NULL);
	assert_ok(doca_ctx_workq_add(started->ctx, started->workq));
	end_close(started);
}

/* NULL, a destroyed one, one of another kind, an unaligned one. */
#define NUM_WRONG 4

static void wrong_handles(const struct end *end, struct doca_rdma *ret_wrong[NUM_WRONG])
{
	struct doca_rdma *stale;

	assert_ok(doca_rdma_create(&stale));
	assert_ok(doca_rdma_destroy(stale));
	ret_wrong[0] = NULL;
	ret_wrong[1] = stale;
	ret_wrong[2] = (struct doca_rdma *)end->workq;
	ret_wrong[3] = (struct doca_rdma *)((char *)end->rdma + 1);
}

/* provokes: doca_rdma_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_export DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_connect DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_set_send_queue_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_set_recv_queue_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_set_transport_type DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_set_mtu DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_set_permissions DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_set_grh_enabled DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_set_gid_index DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_set_recv_buf_chain_len DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_set_sl DOCA_ERROR_INVALID_VALUE */
static void test_a_handle_of_no_live_context_is_refused_everywhere(void **state)
{
	struct doca_rdma *wrong[NUM_WRONG];
	struct end *end = end_new(0);
	const void *details;
	size_t len;

	wrong_handles(end, wrong);
	for (int i = 0; i < NUM_WRONG; i++) {
		struct doca_rdma *rdma = wrong[i];

		assert_null(doca_rdma_as_ctx(rdma));
		assert_refused_invalid(doca_rdma_destroy(rdma));
		assert_refused_invalid(doca_rdma_export(rdma, &details, &len));
		assert_refused_invalid(doca_rdma_connect(rdma, "", 1));
		assert_refused_invalid(doca_rdma_set_send_queue_size(rdma, 1));
		assert_refused_invalid(doca_rdma_set_recv_queue_size(rdma, 1));
		assert_refused_invalid(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_RC));
		assert_refused_invalid(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_1K_BYTES));
		assert_refused_invalid(doca_rdma_set_permissions(rdma, 0));
		assert_refused_invalid(doca_rdma_set_grh_enabled(rdma, true));
		assert_refused_invalid(doca_rdma_set_gid_index(rdma, 0));
		assert_refused_invalid(doca_rdma_set_recv_buf_chain_len(rdma, 1));
		assert_refused_invalid(doca_rdma_set_sl(rdma, 0));
	}
	end_start(end);
	assert_refused_invalid(doca_rdma_export(end->rdma, NULL, &len));
	assert_refused_invalid(doca_rdma_export(end->rdma, &details, NULL));
	assert_refused_invalid(doca_rdma_connect(end->rdma, NULL, 1));
	end_close(end);
}

/* provokes: doca_rdma_get_send_queue_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_get_recv_queue_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_get_transport_type DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_get_mtu DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_get_permissions DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_get_grh_enabled DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_get_gid_index DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_get_recv_buf_chain_len DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_get_sl DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_get_state DOCA_ERROR_INVALID_VALUE */
static void test_getters_need_a_context_and_a_place(void **state)
{
	struct end *end = end_new(0);
	enum doca_rdma_transport_type transport;
	enum doca_rdma_state now;
	enum doca_mtu_size mtu;
	uint32_t value;
	bool enabled;

	assert_refused_invalid(doca_rdma_get_send_queue_size(NULL, &value));
	assert_refused_invalid(doca_rdma_get_send_queue_size(end->rdma, NULL));
	assert_refused_invalid(doca_rdma_get_recv_queue_size(NULL, &value));
	assert_refused_invalid(doca_rdma_get_recv_queue_size(end->rdma, NULL));
	assert_refused_invalid(doca_rdma_get_transport_type(NULL, &transport));
	assert_refused_invalid(doca_rdma_get_transport_type(end->rdma, NULL));
	assert_refused_invalid(doca_rdma_get_mtu(NULL, &mtu));
	assert_refused_invalid(doca_rdma_get_mtu(end->rdma, NULL));
	assert_refused_invalid(doca_rdma_get_permissions(NULL, &value));
	assert_refused_invalid(doca_rdma_get_permissions(end->rdma, NULL));
	assert_refused_invalid(doca_rdma_get_grh_enabled(NULL, &enabled));
	assert_refused_invalid(doca_rdma_get_grh_enabled(end->rdma, NULL));
	assert_refused_invalid(doca_rdma_get_gid_index(NULL, &value));
	assert_refused_invalid(doca_rdma_get_gid_index(end->rdma, NULL));
	assert_refused_invalid(doca_rdma_get_recv_buf_chain_len(NULL, &value));
	assert_refused_invalid(doca_rdma_get_recv_buf_chain_len(end->rdma, NULL));
	assert_refused_invalid(doca_rdma_get_sl(NULL, &value));
	assert_refused_invalid(doca_rdma_get_sl(end->rdma, NULL));
	assert_refused_invalid(doca_rdma_get_state(NULL, &now));
	assert_refused_invalid(doca_rdma_get_state(end->rdma, NULL));
	end_start(end);
	end_close(end);
}

/* ---- properties ---- */

/* Out of range: nothing changes.
 *
 * provokes: doca_rdma_set_send_queue_size DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_rdma_set_recv_queue_size DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_rdma_set_transport_type DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_rdma_set_mtu DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_rdma_set_grh_enabled DOCA_ERROR_NOT_SUPPORTED */
static void test_values_are_in_range(void **state)
{
	struct end *end = end_new(DOCA_ACCESS_RDMA_READ);
	struct doca_rdma *rdma = end->rdma;
	enum doca_mtu_size mtu;
	uint32_t value, max;

	assert_ok(doca_rdma_get_max_send_queue_size(doca_dev_as_devinfo(end->dev), &max));
	assert_refused_invalid(doca_rdma_set_send_queue_size(rdma, 0));
	assert_refused(doca_rdma_set_send_queue_size(rdma, max + 1), DOCA_ERROR_NOT_SUPPORTED);
	assert_refused(doca_rdma_set_send_queue_size(rdma, UINT32_MAX), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_rdma_get_max_recv_queue_size(doca_dev_as_devinfo(end->dev), &max));
	assert_refused_invalid(doca_rdma_set_recv_queue_size(rdma, 0));
	assert_refused(doca_rdma_set_recv_queue_size(rdma, max + 1), DOCA_ERROR_NOT_SUPPORTED);
	assert_refused(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_DC), DOCA_ERROR_NOT_SUPPORTED);
	assert_refused_invalid(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_DC + 1));
	assert_refused_invalid(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_RAW_ETHERNET + 1));
	assert_refused(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_RAW_ETHERNET), DOCA_ERROR_NOT_SUPPORTED);
	assert_refused_invalid(doca_rdma_set_permissions(rdma, DOCA_ACCESS_DPU_READ_ONLY));
	assert_refused(doca_rdma_set_grh_enabled(rdma, false), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_rdma_get_gid_table_size(doca_dev_as_devinfo(end->dev), &max));
	assert_refused_invalid(doca_rdma_set_gid_index(rdma, max));
	assert_refused_invalid(doca_rdma_set_sl(rdma, 16));
	assert_ok(doca_rdma_get_max_buf_chain_len(doca_dev_as_devinfo(end->dev), DOCA_RDMA_JOB_RECV,
						  DOCA_RDMA_TRANSPORT_RC, &max));
	assert_refused_invalid(doca_rdma_set_recv_buf_chain_len(rdma, 0));
	assert_refused_invalid(doca_rdma_set_recv_buf_chain_len(rdma, max + 1));
	assert_ok(doca_rdma_get_recv_buf_chain_len(rdma, &value));
	assert_int_equal(value, 1);
	assert_ok(doca_rdma_get_permissions(rdma, &value));
	assert_int_equal(value, DOCA_ACCESS_RDMA_READ);
	assert_ok(doca_rdma_get_mtu(rdma, &mtu));
	assert_int_equal(mtu, DOCA_MTU_SIZE_4K_BYTES);
	end_start(end);
	end_close(end);
}

static void test_values_are_kept(void **state)
{
	struct end *end = end_new(ALL_ACCESS | DOCA_ACCESS_LOCAL_READ_WRITE);
	struct doca_rdma *rdma = end->rdma;
	enum doca_rdma_transport_type transport;
	enum doca_mtu_size mtu;
	uint32_t value;
	bool enabled;

	assert_ok(doca_rdma_set_send_queue_size(rdma, 33));
	assert_ok(doca_rdma_set_recv_queue_size(rdma, 5));
	assert_ok(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_RC));
	assert_ok(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_1K_BYTES));
	assert_ok(doca_rdma_set_grh_enabled(rdma, true));
	assert_ok(doca_rdma_set_gid_index(rdma, 3));
	assert_ok(doca_rdma_set_recv_buf_chain_len(rdma, 4));
	assert_ok(doca_rdma_set_sl(rdma, 15));
	assert_ok(doca_rdma_get_send_queue_size(rdma, &value));
	assert_int_equal(value, 64);
	assert_ok(doca_rdma_get_recv_queue_size(rdma, &value));
	assert_int_equal(value, 8);
	assert_ok(doca_rdma_get_transport_type(rdma, &transport));
	assert_int_equal(transport, DOCA_RDMA_TRANSPORT_RC);
	assert_ok(doca_rdma_get_mtu(rdma, &mtu));
	assert_int_equal(mtu, DOCA_MTU_SIZE_1K_BYTES);
	assert_ok(doca_rdma_get_permissions(rdma, &value));
	assert_int_equal(value, ALL_ACCESS | DOCA_ACCESS_LOCAL_READ_WRITE);
	assert_ok(doca_rdma_get_grh_enabled(rdma, &enabled));
	assert_true(enabled);
	assert_ok(doca_rdma_get_gid_index(rdma, &value));
	assert_int_equal(value, 3);
	assert_ok(doca_rdma_get_recv_buf_chain_len(rdma, &value));
	assert_int_equal(value, 4);
	assert_ok(doca_rdma_get_sl(rdma, &value));
	assert_int_equal(value, 15);
	end_start(end);
	end_close(end);
}

/* Sizes may be set before the device, which decides at the start.
 *
 * provokes: doca_rdma_set_permissions DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_set_grh_enabled DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_set_gid_index DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_get_send_queue_size DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_get_recv_queue_size DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_get_transport_type DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_get_mtu DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_get_permissions DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_get_grh_enabled DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_get_gid_index DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_get_recv_buf_chain_len DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_get_sl DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_get_state DOCA_ERROR_BAD_STATE */
static void test_some_properties_need_the_device(void **state)
{
	struct end *end = end_new(0);
	struct doca_rdma *rdma = end->rdma;
	enum doca_rdma_transport_type transport;
	enum doca_rdma_state now;
	enum doca_mtu_size mtu;
	uint32_t value;
	bool enabled;

	assert_ok(doca_ctx_dev_rm(end->ctx, end->dev));
	assert_refused(doca_rdma_set_permissions(rdma, 0), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_set_grh_enabled(rdma, true), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_set_gid_index(rdma, 0), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_get_send_queue_size(rdma, &value), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_get_recv_queue_size(rdma, &value), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_get_transport_type(rdma, &transport), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_get_mtu(rdma, &mtu), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_get_permissions(rdma, &value), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_get_grh_enabled(rdma, &enabled), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_get_gid_index(rdma, &value), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_get_recv_buf_chain_len(rdma, &value), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_get_sl(rdma, &value), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_get_state(rdma, &now), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_rdma_set_send_queue_size(rdma, 1u << 20));
	assert_refused(doca_ctx_start(end->ctx), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_ctx_dev_add(end->ctx, end->dev));
	assert_refused(doca_ctx_start(end->ctx), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_rdma_set_send_queue_size(rdma, 1));
	assert_ok(doca_rdma_set_gid_index(rdma, 4)); /* which the device does not use */
	assert_refused(doca_ctx_start(end->ctx), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_set_gid_index(rdma, 1));
	end_start(end);
	end_close(end);
}

/* provokes: doca_rdma_set_send_queue_size DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_set_recv_queue_size DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_set_transport_type DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_set_mtu DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_set_recv_buf_chain_len DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_set_sl DOCA_ERROR_BAD_STATE */
static void test_a_started_context_keeps_its_properties(void **state)
{
	struct end *end = end_new(0);
	struct doca_rdma *rdma = end->rdma;

	end_start(end);
	assert_refused(doca_rdma_set_send_queue_size(rdma, 1), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_set_recv_queue_size(rdma, 1), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_RC), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_1K_BYTES), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_set_permissions(rdma, 0), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_set_grh_enabled(rdma, true), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_set_gid_index(rdma, 0), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_set_recv_buf_chain_len(rdma, 1), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_set_sl(rdma, 0), DOCA_ERROR_BAD_STATE);
	end_close(end);
}

/* ---- capabilities ---- */

/* provokes: doca_rdma_job_get_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_get_transport_type_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_get_max_recv_queue_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_get_max_send_queue_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_get_max_message_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_get_max_buf_chain_len DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_get_gid_table_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_rdma_get_gid DOCA_ERROR_INVALID_VALUE */
static void test_capabilities_need_a_device_and_a_place(void **state)
{
	struct doca_dev *dev = rig_open(0);
	struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	struct doca_rdma_gid gid;
	uint32_t value;

	assert_refused_invalid(doca_rdma_job_get_supported(NULL, DOCA_RDMA_JOB_SEND));
	assert_refused_invalid(doca_rdma_job_get_supported(info, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD + 1));
	assert_refused_invalid(doca_rdma_get_transport_type_supported(NULL, DOCA_RDMA_TRANSPORT_RC));
	assert_refused_invalid(doca_rdma_get_transport_type_supported(info, DOCA_RDMA_TRANSPORT_DC + 1));
	assert_refused_invalid(doca_rdma_get_max_recv_queue_size(NULL, &value));
	assert_refused_invalid(doca_rdma_get_max_recv_queue_size(info, NULL));
	assert_refused_invalid(doca_rdma_get_max_send_queue_size(NULL, &value));
	assert_refused_invalid(doca_rdma_get_max_send_queue_size(info, NULL));
	assert_refused_invalid(doca_rdma_get_max_message_size(NULL, &value));
	assert_refused_invalid(doca_rdma_get_max_message_size(info, NULL));
	assert_refused_invalid(
		doca_rdma_get_max_buf_chain_len(NULL, DOCA_RDMA_JOB_SEND, DOCA_RDMA_TRANSPORT_RC, &value));
	assert_refused_invalid(
		doca_rdma_get_max_buf_chain_len(info, DOCA_RDMA_JOB_RECV - 1, DOCA_RDMA_TRANSPORT_RC, &value));
	assert_refused_invalid(
		doca_rdma_get_max_buf_chain_len(info, DOCA_RDMA_JOB_SEND, DOCA_RDMA_TRANSPORT_DC + 1, &value));
	assert_refused_invalid(doca_rdma_get_max_buf_chain_len(info, DOCA_RDMA_JOB_SEND, DOCA_RDMA_TRANSPORT_RC, NULL));
	assert_refused_invalid(doca_rdma_get_gid_table_size(NULL, &value));
	assert_refused_invalid(doca_rdma_get_gid_table_size(info, NULL));
	assert_refused_invalid(doca_rdma_get_gid(NULL, 0, 1, &gid));
	assert_refused_invalid(doca_rdma_get_gid(info, 0, 1, NULL));
	assert_ok(doca_dev_close(dev));
}

/* b1:00.1 has none.
 *
 * provokes: doca_rdma_job_get_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_rdma_get_transport_type_supported DOCA_ERROR_NOT_SUPPORTED */
static void test_a_device_has_rdma_or_not(void **state)
{
	struct doca_dev *with = rig_open(0), *without = rig_open(1);
	struct doca_devinfo *info = doca_dev_as_devinfo(with), *poor = doca_dev_as_devinfo(without);
	struct doca_rdma *rdma;
	uint32_t send, receive;

	for (int type = DOCA_RDMA_JOB_RECV; type <= DOCA_RDMA_JOB_ATOMIC_FETCH_ADD; type++) {
		assert_ok(doca_rdma_job_get_supported(info, type));
		assert_doca(doca_rdma_job_get_supported(poor, type), DOCA_ERROR_NOT_SUPPORTED);
	}
	assert_ok(doca_rdma_get_transport_type_supported(info, DOCA_RDMA_TRANSPORT_RC));
	assert_doca(doca_rdma_get_transport_type_supported(info, DOCA_RDMA_TRANSPORT_DC), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_rdma_get_transport_type_supported(poor, DOCA_RDMA_TRANSPORT_RC), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_rdma_get_max_buf_chain_len(info, DOCA_RDMA_JOB_SEND, DOCA_RDMA_TRANSPORT_RC, &send));
	assert_ok(doca_rdma_get_max_buf_chain_len(info, DOCA_RDMA_JOB_RECV, DOCA_RDMA_TRANSPORT_RC, &receive));
	assert_true(send > 1 && receive == send + 1);
	assert_ok(doca_rdma_create(&rdma));
	assert_refused(doca_ctx_dev_add(doca_rdma_as_ctx(rdma), without), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_rdma_destroy(rdma));
	assert_ok(doca_dev_close(with));
	assert_ok(doca_dev_close(without));
}

/* ---- connections and jobs ---- */

/* provokes: doca_rdma_export DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_connect DOCA_ERROR_BAD_STATE
 * provokes: doca_rdma_connect DOCA_ERROR_CONNECTION_ABORTED */
static void test_descriptors_are_of_started_contexts(void **state)
{
	struct end *a = end_new(0), *b = end_new(0);
	const void *details;
	char kept[64];
	size_t len;

	assert_refused(doca_rdma_export(a->rdma, &details, &len), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_rdma_connect(a->rdma, kept, sizeof(kept)), DOCA_ERROR_BAD_STATE);
	end_start(a);
	end_start(b);
	assert_ok(doca_rdma_export(b->rdma, &details, &len));
	memcpy(kept, details, sizeof(kept));
	assert_refused(doca_rdma_connect(a->rdma, kept, len - 1), DOCA_ERROR_CONNECTION_ABORTED);
	end_close(b);
	assert_refused(doca_rdma_connect(a->rdma, kept, len), DOCA_ERROR_CONNECTION_ABORTED);
	b = end_new(0);
	end_start(b);
	end_connect(a, b);
	assert_ok(doca_rdma_export(b->rdma, &details, &len));
	assert_refused(doca_rdma_connect(a->rdma, details, len), DOCA_ERROR_BAD_STATE);
	end_close(a);
	end_close(b);
}

static doca_error_t doca_workq_submit_of(struct end *end, int type)
{
	struct doca_rdma_job_send job = { .base = { .type = type, .ctx = end->ctx } };

	return doca_workq_submit(end->workq, &job.base);
}

#define refused_submit(call, code) \
	(refuse_listen(), refuse_check(call, code, "doca_workq_submit()", __FILE__, __LINE__))

static void test_jobs_of_no_kind_or_with_wrong_buffers_are_refused(void **state)
{
	struct end *a, *b;
	struct doca_buf *own, *list, *peers, *small;

	ends_open(&a, &b, ALL_ACCESS);
	own = end_buf(a, 0, 16, 16);
	list = end_buf(a, 64, 16, 0);
	small = end_buf(a, 128, 4, 0);
	peers = end_peer_buf(a, 0, 16, 16);
	refused_submit(doca_workq_submit_of(a, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD + 1), DOCA_ERROR_INVALID_VALUE);
	refused_submit(doca_workq_submit_of(a, DOCA_DMA_JOB_MEMCPY), DOCA_ERROR_INVALID_VALUE);
	assert_doca(end_send(a, 1, (struct doca_buf *)a->rdma), DOCA_ERROR_INVALID_VALUE);
	assert_doca(end_send(a, 1, peers), DOCA_ERROR_INVALID_VALUE);
	assert_doca(end_write(a, 1, own, own), DOCA_ERROR_INVALID_VALUE);
	assert_doca(end_write(a, 1, peers, own), DOCA_ERROR_INVALID_VALUE); /* the peer's is full */
	assert_doca(end_read(a, 1, small, peers), DOCA_ERROR_INVALID_VALUE);
	assert_doca(end_add(a, 1, NULL, list, 1), DOCA_ERROR_INVALID_VALUE);
	assert_doca(end_add(a, 1, peers, small, 1), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_buf_list_chain(list, small));
	assert_doca(end_receive(a, 1, list), DOCA_ERROR_INVALID_VALUE); /* one buffer by default */
	rig_return(own);
	rig_return(list);
	rig_return(peers);
	end_close(a);
	end_close(b);
}

static void test_a_connection_that_is_none_takes_no_jobs(void **state)
{
	struct end *a, *b;
	struct doca_buf *src, *dst;

	ends_open(&a, &b, 0);
	src = end_buf(a, 0, 8, 8);
	dst = NULL;
	assert_null(a->peer_map); /* a map without rights can't be exported */
	end_close(b);
	assert_ok(end_send(a, 1, src));
	assert_doca(end_retrieve(a).result.result, DOCA_ERROR_IO_FAILED);
	assert_doca(end_send(a, 2, src), DOCA_ERROR_BAD_STATE);
	assert_doca(end_write(a, 3, dst, src), DOCA_ERROR_BAD_STATE);
	rig_return(src);
	end_close(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contexts_are_made_and_destroyed),
		cmocka_unit_test(test_a_start_is_repeated_once_there_is_memory),
		cmocka_unit_test(test_a_handle_of_no_live_context_is_refused_everywhere),
		cmocka_unit_test(test_getters_need_a_context_and_a_place),
		cmocka_unit_test(test_values_are_in_range),
		cmocka_unit_test(test_values_are_kept),
		cmocka_unit_test(test_some_properties_need_the_device),
		cmocka_unit_test(test_a_started_context_keeps_its_properties),
		cmocka_unit_test(test_capabilities_need_a_device_and_a_place),
		cmocka_unit_test(test_a_device_has_rdma_or_not),
		cmocka_unit_test(test_descriptors_are_of_started_contexts),
		cmocka_unit_test(test_jobs_of_no_kind_or_with_wrong_buffers_are_refused),
		cmocka_unit_test(test_a_connection_that_is_none_takes_no_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
