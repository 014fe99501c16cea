/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch's capabilities of a device; the limits come from the topology. */
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "shim/common/base/check.h"
#include "shim/common/dev/dev_priv.h"

#define MAX_LIST_LEN 1 /* the Comch guide: chained buffers are not supported */

/* A device that can be an end of a connection has the data path as well. */
static bool has_data_path(const struct doca_devinfo *devinfo)
{
	return devinfo->function->caps.comch_server || devinfo->function->caps.comch_client;
}

SHIM_DEFINE_IS_SUPPORTED(doca_comch_cap_server_is_supported, devinfo->function->caps.comch_server)
SHIM_DEFINE_IS_SUPPORTED(doca_comch_cap_client_is_supported, devinfo->function->caps.comch_client)
SHIM_DEFINE_IS_SUPPORTED(doca_comch_consumer_cap_is_supported, has_data_path(devinfo))
SHIM_DEFINE_IS_SUPPORTED(doca_comch_producer_cap_is_supported, has_data_path(devinfo))

#define LIMIT(name, out, field) SHIM_DEFINE_DEVINFO_GETTER(name, uint32_t, out, devinfo->function->caps.field)

LIMIT(doca_comch_cap_get_max_name_len, max_name_len, comch_max_name_len)
LIMIT(doca_comch_cap_get_max_msg_size, size, comch_max_msg_bytes)
LIMIT(doca_comch_cap_get_max_recv_queue_size, size, comch_max_recv_queue)
LIMIT(doca_comch_cap_get_max_send_tasks, max_send_tasks, comch_max_send_tasks)
LIMIT(doca_comch_cap_get_max_clients, num_clients, comch_max_clients)
LIMIT(doca_comch_consumer_cap_get_max_num_tasks, max_num_tasks, comch_max_fast_tasks)
LIMIT(doca_comch_consumer_cap_get_max_imm_data_len, max_imm_data_len, comch_max_imm_bytes)
LIMIT(doca_comch_consumer_cap_get_max_consumers, max_consumers, comch_max_consumers)
LIMIT(doca_comch_producer_cap_get_max_num_tasks, max_num_tasks, comch_max_fast_tasks)
LIMIT(doca_comch_producer_cap_get_max_producers, max_producers, comch_max_producers)

/* A device without a data path does not have these limits. */
#define DATA_PATH_LIMIT(function_name, out, value)                                                             \
	doca_error_t function_name(const struct doca_devinfo *devinfo, uint32_t *out)                          \
	{                                                                                                      \
		SHIM_NEED(devinfo, SHIM_DEVINFO);                                                              \
		SHIM_NEED_OUT(out);                                                                            \
		if (!has_data_path(devinfo))                                                                   \
			return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "device %s has no Comch; see bfsim devs", \
					   devinfo->function->ibdev);                                          \
		*out = (value);                                                                                \
		return DOCA_SUCCESS;                                                                           \
	}

DATA_PATH_LIMIT(doca_comch_consumer_cap_get_max_buf_size, max_buf_size, devinfo->function->caps.comch_max_buf_bytes)
DATA_PATH_LIMIT(doca_comch_consumer_cap_get_max_buf_list_len, max_buf_list_len, MAX_LIST_LEN)
DATA_PATH_LIMIT(doca_comch_producer_cap_get_max_buf_size, max_buf_size, devinfo->function->caps.comch_max_buf_bytes)
DATA_PATH_LIMIT(doca_comch_producer_cap_get_max_buf_list_len, max_buf_list_len, MAX_LIST_LEN)
