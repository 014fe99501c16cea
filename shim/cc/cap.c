/* SPDX-License-Identifier: BSD-3-Clause */
/* Capabilities of a device. The names are in parentheses, as the header has macros of some. */
#include "cc_priv.h"

#define DEFINE_SUPPORTED(name, comch)                         \
	doca_error_t name(const struct doca_devinfo *devinfo) \
	{                                                     \
		return comch(devinfo);                        \
	}

DEFINE_SUPPORTED(doca_cc_cap_server_is_supported, doca_comch_cap_server_is_supported)
DEFINE_SUPPORTED(doca_cc_cap_client_is_supported, doca_comch_cap_client_is_supported)
DEFINE_SUPPORTED(doca_cc_cap_is_consumer_supported, doca_comch_consumer_cap_is_supported)
DEFINE_SUPPORTED(doca_cc_consumer_cap_is_supported, doca_comch_consumer_cap_is_supported)
DEFINE_SUPPORTED(doca_cc_cap_is_producer_supported, doca_comch_producer_cap_is_supported)
DEFINE_SUPPORTED(doca_cc_producer_cap_is_supported, doca_comch_producer_cap_is_supported)

#define DEFINE_LIMIT(name, comch, type, as)                                   \
	doca_error_t(name)(const struct doca_devinfo *devinfo, type *limit)   \
	{                                                                     \
		return FORWARD_OUT(uint32_t, comch(devinfo, tmp), limit, as); \
	}

DEFINE_LIMIT(doca_cc_cap_get_max_name_len, doca_comch_cap_get_max_name_len, uint32_t, uint32_t)
DEFINE_LIMIT(doca_cc_cap_get_max_msg_size, doca_comch_cap_get_max_msg_size, size_t, size_t)
DEFINE_LIMIT(doca_cc_cap_get_max_recv_queue_size, doca_comch_cap_get_max_recv_queue_size, size_t, size_t)
DEFINE_LIMIT(doca_cc_cap_get_max_send_tasks, doca_comch_cap_get_max_send_tasks, size_t, size_t)
DEFINE_LIMIT(doca_cc_cap_get_max_clients, doca_comch_cap_get_max_clients, size_t, size_t)

DEFINE_LIMIT(doca_cc_consumer_cap_get_max_buf_size, doca_comch_consumer_cap_get_max_buf_size, size_t, size_t)
DEFINE_LIMIT(doca_cc_consumer_cap_get_max_consumers, doca_comch_consumer_cap_get_max_consumers, uint32_t, uint32_t)
DEFINE_LIMIT(doca_cc_consumer_cap_get_max_num_tasks, doca_comch_consumer_cap_get_max_num_tasks, uint32_t, uint32_t)
DEFINE_LIMIT(doca_cc_consumer_cap_get_max_log_num_tasks, doca_comch_consumer_cap_get_max_num_tasks, size_t,
	     cc_log2_floor)

DEFINE_LIMIT(doca_cc_producer_cap_get_max_buf_size, doca_comch_producer_cap_get_max_buf_size, size_t, size_t)
DEFINE_LIMIT(doca_cc_producer_cap_get_max_producers, doca_comch_producer_cap_get_max_producers, uint32_t, uint32_t)
DEFINE_LIMIT(doca_cc_producer_cap_get_max_num_tasks, doca_comch_producer_cap_get_max_num_tasks, uint32_t, uint32_t)
DEFINE_LIMIT(doca_cc_producer_cap_get_max_log_num_tasks, doca_comch_producer_cap_get_max_num_tasks, size_t,
	     cc_log2_floor)
