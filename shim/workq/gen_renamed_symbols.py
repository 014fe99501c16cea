#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write renamed_symbols.h: the names of the current generation's functions inside the work-queue libraries.

    gen_renamed_symbols.py FACTS FACTS-WORKQ OUTPUT    write the header; the build does
    gen_renamed_symbols.py FACTS FACTS-WORKQ           print which functions come from the core, which from the translation

A function keeps its name where both generations have it with one signature and one meaning. It gets the older
name where only the name differs (RENAMED). Every other function is core_... for the translation to call. This
script checks that the signatures agree; RENAMED and DIFFERENT_MEANING record decisions about the meanings.
"""
import json
import pathlib
import re
import sys

# Current name -> older name of the same function.
RENAMED = {
    'doca_buf_chain_list': 'doca_buf_list_chain',
    'doca_buf_dec_refcount': 'doca_buf_refcount_rm',
    'doca_buf_get_last_in_list': 'doca_buf_list_last',
    'doca_buf_get_list_len': 'doca_buf_list_num_elements',
    'doca_buf_get_next_in_list': 'doca_buf_list_next',
    'doca_buf_inc_refcount': 'doca_buf_refcount_add',
    'doca_buf_is_first_in_list': 'doca_buf_list_is_first',
    'doca_buf_is_last_in_list': 'doca_buf_list_is_last',
    'doca_buf_pool_destroy': 'doca_bufpool_destroy',
    'doca_buf_pool_get_num_elements': 'doca_bufpool_get_num_elements',
    'doca_buf_pool_get_num_free_elements': 'doca_bufpool_get_num_free_elements',
    'doca_buf_pool_get_user_data': 'doca_bufpool_get_user_data',
    'doca_buf_unchain_list': 'doca_buf_list_unchain',
    'doca_devinfo_cap_is_hotplug_manager_supported': 'doca_devinfo_get_is_hotplug_manager_supported',
    'doca_devinfo_create_list': 'doca_devinfo_list_create',
    'doca_devinfo_destroy_list': 'doca_devinfo_list_destroy',
    'doca_devinfo_is_equal_pci_addr': 'doca_devinfo_get_is_pci_addr_equal',
    'doca_devinfo_rep_cap_is_filter_all_supported': 'doca_devinfo_rep_get_is_list_all_supported',
    'doca_devinfo_rep_cap_is_filter_emulated_supported': 'doca_devinfo_rep_get_is_list_emulated_supported',
    'doca_devinfo_rep_cap_is_filter_net_supported': 'doca_devinfo_rep_get_is_list_net_supported',
    'doca_devinfo_rep_create_list': 'doca_devinfo_rep_list_create',
    'doca_devinfo_rep_destroy_list': 'doca_devinfo_rep_list_destroy',
    'doca_devinfo_rep_is_equal_pci_addr': 'doca_devinfo_rep_get_is_pci_addr_equal',
    'doca_dma_cap_task_memcpy_get_max_buf_list_len': 'doca_dma_get_max_list_buf_num_elem',
    'doca_dma_cap_task_memcpy_get_max_buf_size': 'doca_dma_get_max_buf_size',
    'doca_error_get_descr': 'doca_get_error_string',
    'doca_error_get_name': 'doca_get_error_name',
    'doca_log_backend_create_standard': 'doca_log_create_standard_backend',
    'doca_log_backend_create_with_buf': 'doca_log_create_buffer_backend',
    'doca_log_backend_create_with_fd': 'doca_log_create_fd_backend',
    'doca_log_backend_create_with_file': 'doca_log_create_file_backend',
    'doca_log_backend_create_with_syslog': 'doca_log_create_syslog_backend',
    'doca_log_backend_set_level_lower_limit': 'doca_log_backend_level_set',
    'doca_log_backend_set_level_lower_limit_strict': 'doca_log_backend_set_lower_level_immutable',
    'doca_log_backend_set_level_upper_limit': 'doca_log_backend_set_upper_level_limit',
    'doca_log_backend_set_level_upper_limit_strict': 'doca_log_backend_set_upper_level_immutable',
    'doca_log_level_get_global_lower_limit': 'doca_log_global_level_get',
    'doca_log_level_set_global_lower_limit': 'doca_log_global_level_set',
    'doca_log_level_set_global_upper_limit': 'doca_log_global_set_upper_level_limit',
    'doca_log_register_source': 'doca_log_source_register',
    'doca_log_unregister_source': 'doca_log_source_destroy',
    'doca_mmap_cap_is_create_from_export_pci_supported': 'doca_devinfo_get_is_mmap_from_export_dpu_supported',
    'doca_mmap_cap_is_export_pci_supported': 'doca_devinfo_get_is_mmap_export_dpu_supported',
    'doca_rdma_bridge_get_buf_mkey': 'doca_buf_get_mkey',
    'doca_rdma_bridge_get_dev_pd': 'doca_dev_get_pd',
    'doca_rdma_bridge_open_dev_from_pd': 'doca_dev_open_from_pd',
    'doca_rdma_cap_get_gid': 'doca_rdma_get_gid',
    'doca_rdma_cap_get_gid_table_size': 'doca_rdma_get_gid_table_size',
    'doca_rdma_cap_get_max_message_size': 'doca_rdma_get_max_message_size',
    'doca_rdma_cap_get_max_recv_queue_size': 'doca_rdma_get_max_recv_queue_size',
    'doca_rdma_cap_get_max_send_queue_size': 'doca_rdma_get_max_send_queue_size',
}

# Current name -> the older function of that purpose, which differs in more than its name. Log lines use the latter.
LOGGED_AS = {
    'doca_buf_inventory_buf_get_by_args': 'doca_buf_inventory_buf_by_args',
    'doca_buf_pool_buf_alloc': 'doca_bufpool_buf_alloc',
    'doca_buf_pool_create': 'doca_bufpool_create',
    'doca_buf_pool_set_element_alignment': 'doca_bufpool_create',
    'doca_buf_pool_start': 'doca_bufpool_start',
    'doca_buf_pool_stop': 'doca_bufpool_stop',
    'doca_comch_cap_get_max_name_len': 'doca_comm_channel_get_max_service_name_len',
    'doca_comch_client_create': 'doca_comm_channel_ep_connect',
    'doca_comch_client_set_max_msg_size': 'doca_comm_channel_ep_set_max_msg_size',
    'doca_comch_client_set_recv_queue_size': 'doca_comm_channel_ep_set_recv_queue_size',
    'doca_comch_server_create': 'doca_comm_channel_ep_listen',
    'doca_comch_server_set_max_msg_size': 'doca_comm_channel_ep_set_max_msg_size',
    'doca_comch_server_set_recv_queue_size': 'doca_comm_channel_ep_set_recv_queue_size',
    'doca_compress_cap_task_compress_deflate_get_max_buf_size': 'doca_compress_get_max_buf_size',
    'doca_compress_cap_task_compress_deflate_is_supported': 'doca_compress_job_get_supported',
    'doca_compress_cap_task_decompress_deflate_get_max_buf_list_len': 'doca_compress_get_max_list_buf_num_elem',
    'doca_compress_cap_task_decompress_deflate_get_max_buf_size': 'doca_compress_get_max_buf_size',
    'doca_compress_cap_task_decompress_deflate_is_supported': 'doca_compress_job_get_supported',
    'doca_compress_cap_task_decompress_lz4_get_max_buf_size': 'doca_compress_get_max_buf_size',
    'doca_compress_cap_task_decompress_lz4_is_supported': 'doca_compress_job_get_supported',
    'doca_dma_cap_task_memcpy_is_supported': 'doca_dma_job_get_supported',
    'doca_ec_cap_get_max_block_size': 'doca_ec_get_max_buffer_size',
    'doca_ec_cap_get_max_buf_list_len': 'doca_ec_get_max_list_buf_num_elem',
    'doca_ec_cap_task_create_is_supported': 'doca_ec_job_get_supported',
    'doca_mmap_add_dev': 'doca_mmap_dev_add',
    'doca_mmap_export_pci': 'doca_mmap_export_dpu',
    'doca_mmap_rm_dev': 'doca_mmap_dev_rm',
    'doca_pe_clear_notification': 'doca_workq_event_handle_clear',
    'doca_pe_connect_ctx': 'doca_ctx_workq_add',
    'doca_pe_create': 'doca_workq_create',
    'doca_pe_destroy': 'doca_workq_destroy',
    'doca_pe_get_notification_handle': 'doca_workq_get_event_handle',
    'doca_pe_progress': 'doca_workq_progress_retrieve',
    'doca_pe_request_notification': 'doca_workq_event_handle_arm',
    'doca_rdma_cap_get_max_send_buf_list_len': 'doca_rdma_get_max_buf_chain_len',
    'doca_rdma_cap_transport_type_is_supported': 'doca_rdma_get_transport_type_supported',
    'doca_rdma_set_max_send_buf_list_len': 'doca_rdma_get_max_buf_chain_len',
    'doca_rdma_task_receive_set_dst_buf_list_len': 'doca_rdma_set_recv_buf_chain_len',
    'doca_sha_cap_get_max_list_buf_num_elem': 'doca_sha_get_max_list_buf_num_elem',
    'doca_sha_cap_get_max_src_buf_size': 'doca_sha_get_max_src_buffer_size',
    'doca_sha_cap_task_hash_get_supported': 'doca_sha_get_hardware_supported',
    'doca_sync_event_add_publisher_location_cpu': 'doca_sync_event_publisher_add_location_cpu',
    'doca_sync_event_add_publisher_location_remote_pci': 'doca_sync_event_publisher_add_location_dpu',
    'doca_sync_event_add_subscriber_location_cpu': 'doca_sync_event_subscriber_add_location_cpu',
    'doca_sync_event_add_subscriber_location_remote_pci': 'doca_sync_event_subscriber_add_location_dpu',
    'doca_sync_event_cap_is_create_from_export_supported': 'doca_sync_event_get_create_from_export_supported',
    'doca_sync_event_cap_is_export_to_remote_pci_supported': 'doca_sync_event_get_export_to_dpu_supported',
    'doca_sync_event_cap_task_get_is_supported': 'doca_sync_event_job_get_supported',
    'doca_sync_event_cap_task_notify_add_is_supported': 'doca_sync_event_job_get_supported',
    'doca_sync_event_cap_task_notify_set_is_supported': 'doca_sync_event_job_get_supported',
    'doca_sync_event_cap_task_wait_neq_is_supported': 'doca_sync_event_job_get_supported',
    'doca_sync_event_export_to_remote_pci': 'doca_sync_event_export_to_dpu',
    'doca_sync_event_task_get_alloc_init': 'doca_workq_submit',
    'doca_sync_event_task_notify_add_alloc_init': 'doca_workq_submit',
    'doca_sync_event_task_notify_set_alloc_init': 'doca_workq_submit',
    'doca_sync_event_task_wait_neq_alloc_init': 'doca_workq_submit',
    'doca_task_submit': 'doca_workq_submit',
}

# Patterns of functions with one name, one signature and two meanings.
DIFFERENT_MEANING = [
    r'doca_buf_arr_.*',                     # an array gets its map at its creation, and its length later
    r'doca_ctx_(start|stop|set_datapath_on_gpu)', # without a progress engine, and done when they return
    r'doca_(dma|sha|compress|ec)_(as_ctx|destroy)', # contexts are created without a device
    r'doca_graph_.*',                       # of jobs, on a work queue
    # 1.5 starts a map before it has memory; a map may have several ranges
    r'doca_mmap_(start|stop|destroy|get_num_bufs|set_(memrange|permissions|free_cb|max_num_devices))',
    r'doca_rdma_(?!bridge_).*',             # contexts have one connection, and are created without a device; jobs
    r'doca_sync_event_.*',                  # another configuration, and jobs
]

# The translation has its own source of these; that of the core is not compiled (meson.build).
OWN_SOURCE = ['doca_version_runtime']

SAME_TYPE = {
    'struct doca_log_backend': 'struct doca_logger_backend',
    'struct doca_buf_pool': 'struct doca_bufpool',
    'uint8_t *is_first': 'bool *is_first',
    'uint8_t *is_last': 'bool *is_last',
    # pointers to functions: the typedefs' names differ
    'doca_argp_param_cb_t': 'callback_func',
    'doca_argp_validation_cb_t': 'validation_callback',
    'doca_argp_dpdk_cb_t': 'dpdk_callback',
}

HEAD = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/* renamed_symbols.h - the names of the current generation's functions in the work-queue
 * libraries. Written by gen_renamed_symbols.py.
 *
 * The sources of shim/common, dma, rdma, comch, comm_channel and argp (the core) are compiled a
 * second time, with this file included before each. There, a public function
 *   - keeps its name if the work-queue generation has the same function; it is exported;
 *   - gets the older name if only the name differs; it is exported;
 *   - is core_... if it differs, or if the work-queue generation lacks it. The
 *     translation (shim/workq) calls it by that name, declared in core_api.h.
 */
#ifndef SHIM_WORKQ_RENAMED_SYMBOLS_H
#define SHIM_WORKQ_RENAMED_SYMBOLS_H

/* Defined while sources of the core are compiled for the work-queue libraries. */
#define SHIM_WORKQ_BUILD
"""

LOGGED_HEAD = """\

/* The names in log lines: X(name in the current generation, name in the work-queue generation). */
#define SHIM_WORKQ_RENAMED_SYMBOLS(X) \\"""


def signature(entry):
    """The types without const, which does not matter to a caller, and with one name for each type."""
    def plain(text):
        for ours, theirs in SAME_TYPE.items():
            text = text.replace(ours, theirs)
        return re.sub(r'\bconst\b ?', '', text).replace(' ', '')
    params = []
    for name, ptype in entry['params']:
        named = f'{ptype}{name}' if name in ('is_first', 'is_last') else ptype
        params.append(plain(named))
    return plain(entry['ret']), params, entry.get('variadic', False)


def check_same(current, name, older, old_name):
    if old_name not in older:
        sys.exit(f'{old_name}: not in this generation')
    if signature(current[name]) != signature(older[old_name]):
        sys.exit(f'{name} and {old_name} differ: {signature(current[name])}, {signature(older[old_name])}')


def shared(name, current, older):
    return name in OWN_SOURCE or (name in older and signature(current[name]) == signature(older[name]) and
                                  not any(re.fullmatch(pattern, name) for pattern in DIFFERENT_MEANING))


def name_in_core(name, current, older):
    if name in RENAMED:
        check_same(current, name, older, RENAMED[name])
        return RENAMED[name]
    return name if shared(name, current, older) else name.replace('doca_', 'core_', 1)


def logged_names(current, older):
    """Pairs of the current name and the name in the work-queue generation."""
    logged = RENAMED | LOGGED_AS
    for name, old_name in logged.items():
        if name not in current or name in older or old_name not in older:
            sys.exit(f'{name} is to be logged as {old_name}: the first is to be of the current generation alone, '
                     'the second of the older one')
    return sorted(logged.items())


def header(current, older):
    lines = [HEAD]
    for name in sorted(current):
        if not current[name]['inline'] and name_in_core(name, current, older) != name:
            lines.append(f'#define {name} {name_in_core(name, current, older)}')
    lines.append(LOGGED_HEAD)
    lines += [f'\tX("{name}", "{old_name}") \\' for name, old_name in logged_names(current, older)]
    return '\n'.join([*lines, '', '#endif', ''])


def listing(current, older):
    cores = {name_in_core(name, current, older) for name in current} - set(OWN_SOURCE)
    own = {name for name in older if not older[name]['inline']} - cores
    return '\n'.join(["The core's:", *sorted(cores & set(older)), '', "The translation's:", *sorted(own)])


def main():
    current, older = (json.loads(pathlib.Path(path).read_text())['functions'] for path in sys.argv[1:3])
    if len(sys.argv) == 3:
        print(listing(current, older))
    else:
        pathlib.Path(sys.argv[3]).write_text(header(current, older))


if __name__ == '__main__':
    main()
