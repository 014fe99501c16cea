/* SPDX-License-Identifier: BSD-3-Clause */
/* The capabilities of a function by library, named as the API's functions that get them. */
#include "caps.h"

#include <string.h>

#include "func_text.h"

struct visitor {
	cli_caps_visit *visit;
	void *arg;
	const char *lib;
};

static void flag(const struct visitor *visitor, const char *name, bool value)
{
	visitor->visit(visitor->arg, visitor->lib, name, NULL, value, true);
}

static void number(const struct visitor *visitor, const char *name, uint64_t value)
{
	visitor->visit(visitor->arg, visitor->lib, name, NULL, value, false);
}

static void visit_common(const struct visitor *visitor, const struct pcie_function *function)
{
	const struct pcie_caps *caps = &function->caps;

	flag(visitor, "mmap_export_pci", caps->mmap_export_pci);
	flag(visitor, "mmap_create_from_export_pci", caps->mmap_from_export_pci);
	number(visitor, "mmap_max_num_devices", caps->max_mmap_devices);
	flag(visitor, "mmap_advise_task_cache_invalidate", caps->cache_invalidate);
	flag(visitor, "sync_event_export_to_remote_pci", caps->sync_event_export_pci);
	flag(visitor, "sync_event_create_from_export", caps->sync_event_from_export_pci);
	flag(visitor, "hotplug_manager", caps->hotplug_manager);
	flag(visitor, "notification_moderation", caps->notification_moderation);
	flag(visitor, "accelerate_resource_reclaim", caps->accelerate_resource_reclaim);
	flag(visitor, "rep_filter_all", caps->rep_filter_all);
	flag(visitor, "rep_filter_net", caps->rep_filter_net);
	flag(visitor, "rep_filter_emulated", caps->rep_filter_emulated);
	number(visitor, "num_completion_vectors", caps->num_completion_vectors);
}

static void visit_dma(const struct visitor *visitor, const struct pcie_function *function)
{
	const struct pcie_caps *caps = &function->caps;

	flag(visitor, "task_memcpy", caps->dma_memcpy);
	number(visitor, "task_memcpy_max_buf_size", caps->dma_max_buf_bytes);
	number(visitor, "task_memcpy_max_buf_list_len", caps->dma_max_list_len);
	number(visitor, "max_num_tasks", caps->dma_max_tasks);
}

static void visit_comch(const struct visitor *visitor, const struct pcie_function *function)
{
	const struct pcie_caps *caps = &function->caps;
	bool has_data_path = caps->comch_server || caps->comch_client;

	flag(visitor, "server", caps->comch_server);
	flag(visitor, "client", caps->comch_client);
	number(visitor, "max_name_len", caps->comch_max_name_len);
	number(visitor, "max_msg_size", caps->comch_max_msg_bytes);
	number(visitor, "max_recv_queue_size", caps->comch_max_recv_queue);
	number(visitor, "max_send_tasks", caps->comch_max_send_tasks);
	number(visitor, "max_clients", caps->comch_max_clients);
	flag(visitor, "consumer", has_data_path);
	number(visitor, "consumer_max_num_tasks", caps->comch_max_fast_tasks);
	number(visitor, "consumer_max_buf_size", caps->comch_max_buf_bytes);
	number(visitor, "consumer_max_imm_data_len", caps->comch_max_imm_bytes);
	number(visitor, "consumer_max_consumers", caps->comch_max_consumers);
	flag(visitor, "producer", has_data_path);
	number(visitor, "producer_max_num_tasks", caps->comch_max_fast_tasks);
	number(visitor, "producer_max_buf_size", caps->comch_max_buf_bytes);
	number(visitor, "producer_max_producers", caps->comch_max_producers);
}

static void visit_rdma(const struct visitor *visitor, const struct pcie_function *function)
{
	static const char *const tasks[] = {
		"task_receive",
		"task_send",
		"task_send_imm",
		"task_read",
		"task_write",
		"task_write_imm",
		"task_atomic_cmp_swp",
		"task_atomic_fetch_add",
		"task_remote_net_sync_event_get",
		"task_remote_net_sync_event_notify_set",
		"task_remote_net_sync_event_notify_add",
	};
	const struct pcie_caps *caps = &function->caps;

	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++)
		flag(visitor, tasks[i], caps->rdma);
	number(visitor, "task_receive_max_dst_buf_list_len", caps->rdma ? caps->rdma_max_list_len + 1 : 0);
	number(visitor, "max_send_queue_size", caps->rdma_max_send_queue);
	number(visitor, "max_send_buf_list_len", caps->rdma_max_list_len);
	number(visitor, "max_message_size", caps->rdma_max_msg_bytes);
	number(visitor, "gid_table_size", caps->rdma_gids);
}

static void visit_dpa(const struct visitor *visitor, const struct pcie_function *function)
{
	const struct pcie_caps *caps = &function->caps;

	flag(visitor, "is_supported", caps->dpa);
	number(visitor, "core_num", caps->dpa_cores);
	number(visitor, "num_eus_per_core", caps->dpa_eus_per_core);
	number(visitor, "total_num_eus_available", caps->dpa_eus);
	number(visitor, "max_threads_per_kernel", caps->dpa_max_launch_threads);
	number(visitor, "kernel_max_run_time_ms", caps->dpa_run_time_ms);
	number(visitor, "heap_bytes", caps->dpa_heap_bytes);
}

static void visit_sha(const struct visitor *visitor, const struct pcie_function *function)
{
	const struct pcie_accel_caps *caps = &function->caps.accel[PCIE_ACCEL_SHA];

	flag(visitor, "task_hash", caps->is_supported);
	flag(visitor, "task_partial_hash", caps->is_supported);
	number(visitor, "max_src_buf_size", caps->max_buf_bytes);
	number(visitor, "max_list_buf_num_elem", caps->max_list_len);
	number(visitor, "max_num_tasks", caps->max_tasks);
}

static void visit_compress(const struct visitor *visitor, const struct pcie_function *function)
{
	static const struct {
		enum pcie_accel accel;
		const char *task, *max_size, *max_list;
	} tasks[] = {
#define TASK(accel, name) { accel, "task_" name, "task_" name "_max_buf_size", "task_" name "_max_buf_list_len" }
		TASK(PCIE_ACCEL_COMPRESS_DEFLATE, "compress_deflate"),
		TASK(PCIE_ACCEL_DECOMPRESS_DEFLATE, "decompress_deflate"),
		TASK(PCIE_ACCEL_DECOMPRESS_LZ4, "decompress_lz4_stream"),
		TASK(PCIE_ACCEL_DECOMPRESS_LZ4, "decompress_lz4_block"),
#undef TASK
	};
	uint32_t max_tasks = 0;

	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		const struct pcie_accel_caps *caps = &function->caps.accel[tasks[i].accel];

		flag(visitor, tasks[i].task, caps->is_supported);
		number(visitor, tasks[i].max_size, caps->max_buf_bytes);
		number(visitor, tasks[i].max_list, caps->max_list_len);
		max_tasks = caps->max_tasks > max_tasks ? caps->max_tasks : max_tasks;
	}
	number(visitor, "max_num_tasks", max_tasks);
}

static void visit_erasure_coding(const struct visitor *visitor, const struct pcie_function *function)
{
	const struct pcie_accel_caps *caps = &function->caps.accel[PCIE_ACCEL_ERASURE_CODING];

	flag(visitor, "task_galois_mul", caps->is_supported);
	flag(visitor, "task_create", caps->is_supported);
	flag(visitor, "task_update", caps->is_supported);
	flag(visitor, "task_recover", caps->is_supported);
	number(visitor, "max_block_size", caps->max_buf_bytes);
	number(visitor, "max_buf_list_len", caps->max_list_len);
}

static void visit_aes_gcm(const struct visitor *visitor, const struct pcie_function *function)
{
	const struct pcie_accel_caps *caps = &function->caps.accel[PCIE_ACCEL_AES_GCM];
	static const struct {
		const char *task, *tag_96, *tag_128, *key_128, *key_256, *max_iv, *max_size, *max_list;
	} tasks[] = {
#define TASK(name)                      \
	{ "task_" name,                 \
	  "task_" name "_tag_96",       \
	  "task_" name "_tag_128",      \
	  "task_" name "_key_128",      \
	  "task_" name "_key_256",      \
	  "task_" name "_max_iv_len",   \
	  "task_" name "_max_buf_size", \
	  "task_" name "_max_list_buf_num_elem" }
		TASK("encrypt"),
		TASK("decrypt"),
#undef TASK
	};

	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		flag(visitor, tasks[i].task, caps->is_supported);
		flag(visitor, tasks[i].tag_96, caps->is_supported);
		flag(visitor, tasks[i].tag_128, caps->is_supported);
		flag(visitor, tasks[i].key_128, caps->is_supported);
		flag(visitor, tasks[i].key_256, caps->is_supported);
		number(visitor, tasks[i].max_iv, caps->is_supported ? PCIE_AES_GCM_MAX_IV_BYTES : 0);
		number(visitor, tasks[i].max_size, caps->max_buf_bytes);
		number(visitor, tasks[i].max_list, caps->max_list_len);
	}
	number(visitor, "max_num_tasks", caps->max_tasks);
}

static const struct {
	const char *name;
	void (*visit)(const struct visitor *visitor, const struct pcie_function *function);
} libs[] = {
	{ "aes_gcm", visit_aes_gcm },
	{ "common", visit_common },
	{ "comch", visit_comch },
	{ "compress", visit_compress },
	{ "dma", visit_dma },
	{ "dpa", visit_dpa },
	{ "erasure_coding", visit_erasure_coding },
	{ "rdma", visit_rdma },
	{ "sha", visit_sha },
};

#define NUM_LIBS (sizeof(libs) / sizeof(libs[0]))

const char *cli_caps_lib_at(size_t i)
{
	return i < NUM_LIBS ? libs[i].name : NULL;
}

void cli_caps_each(const struct pcie_function *function, const char *lib, cli_caps_visit *visit, void *arg)
{
	for (size_t i = 0; i < NUM_LIBS; i++) {
		const struct visitor visitor = { visit, arg, libs[i].name };

		if (!lib || strcmp(lib, libs[i].name) == 0)
			libs[i].visit(&visitor, function);
	}
}

/* ---- attributes ---- */

static void text(const struct visitor *visitor, const char *name, const char *value)
{
	if (value[0])
		visitor->visit(visitor->arg, visitor->lib, name, value, 0, false);
}

static const char *func_type(const struct pcie_function *function)
{
	static const char *const types[] = { [PCIE_FUNC_PF] = "PF", [PCIE_FUNC_VF] = "VF", [PCIE_FUNC_SF] = "SF" };

	return types[function->type];
}

static bool is_on_side_of(const struct pcie_function *function, const struct pcie_function *other)
{
	return strcmp(function->side, other->side) == 0;
}

enum { FIRST_IFACE_INDEX = 2 }; /* 1 is the loopback interface's */

/* The number of the side's functions with an interface, up to the one with the id @end. */
static uint32_t count_ifaces(const struct pcie_topology *topology, const struct pcie_function *of_side, uint32_t end)
{
	uint32_t count = 0;

	for (uint32_t id = 0; id < end; id++)
		count += is_on_side_of(&topology->functions[id], of_side) && topology->functions[id].iface[0];
	return count;
}

/* A machine's interfaces have the numbers of their places: those of its functions, then those of its representors. */
static uint32_t rep_iface_index(const struct pcie_topology *topology, const struct pcie_function *holder, size_t place)
{
	uint32_t index = FIRST_IFACE_INDEX + count_ifaces(topology, holder, (uint32_t)topology->num_functions);

	for (uint32_t id = 0; id <= holder->id; id++) {
		const struct pcie_function *other = &topology->functions[id];
		size_t end = other == holder ? place : other->num_reps;

		for (size_t i = 0; is_on_side_of(other, holder) && i < end; i++)
			index += topology->functions[other->reps[i]].rep_iface[0] != '\0';
	}
	return index;
}

void cli_caps_each_attribute(const struct pcie_topology *topology, const struct pcie_function *function,
			     cli_caps_visit *visit, void *arg)
{
	const struct visitor visitor = { visit, arg, "" };
	char mac[CLI_MAC_SIZE], ipv4[CLI_IP_SIZE], ipv6[CLI_IP_SIZE];

	cli_func_mac(function, mac);
	cli_func_ipv4(function, ipv4);
	cli_func_long_ipv6(function, ipv6);
	text(&visitor, "ibdev_name", function->ibdev);
	text(&visitor, "iface_name", function->iface);
	if (function->iface[0])
		number(&visitor, "iface_index", FIRST_IFACE_INDEX + count_ifaces(topology, function, function->id));
	text(&visitor, "pci_func_type", func_type(function));
	if (function->type == PCIE_FUNC_SF)
		number(&visitor, "sf_index", function->aux_index);
	number(&visitor, "uplink_ib_port", function->num_reps + 1);
	text(&visitor, "mac_addr", mac);
	text(&visitor, "ipv4_addr", function->has_ipv4 ? ipv4 : "0.0.0.0");
	text(&visitor, "ipv6_addr", ipv6);
	text(&visitor, "vuid", function->vuid);
	number(&visitor, "vhca_id", function->vhca_id);
}

void cli_caps_each_rep_attribute(const struct pcie_topology *topology, const struct pcie_function *holder, size_t place,
				 cli_caps_visit *visit, void *arg)
{
	const struct pcie_function *rep = &topology->functions[holder->reps[place]];
	const struct visitor visitor = { visit, arg, "" };

	text(&visitor, "pci_func_type", func_type(rep));
	flag(&visitor, "hotplug", rep->hotplug);
	text(&visitor, "vuid", rep->vuid);
	text(&visitor, "rep_type", "NET");
	text(&visitor, "iface_name", rep->rep_iface);
	if (rep->rep_iface[0])
		number(&visitor, "iface_index", rep_iface_index(topology, holder, place));
	number(&visitor, "ib_port", place + 1);
	number(&visitor, "host_index", rep->host_index);
	number(&visitor, "pf_index", rep->pf_index);
	if (rep->type == PCIE_FUNC_VF)
		number(&visitor, "vf_index", rep->vf_index);
	if (rep->type == PCIE_FUNC_SF)
		number(&visitor, "sf_index", rep->sf_index);
	number(&visitor, "vhca_id", rep->vhca_id);
}
