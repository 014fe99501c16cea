/* SPDX-License-Identifier: BSD-3-Clause */
/* Capabilities of a function before the overrides of the file: those of the profile for its side, less what functions of
 * its type or cards in its mode lack. doc/hardware.md gives the sources. */
#include <string.h>

#include "topology_draft_priv.h"

/* Nothing passes between the host and the Arm cores. */
static void remove_crossing(struct pcie_caps *caps)
{
	caps->comch_server = caps->comch_client = false;
	caps->mmap_export_pci = caps->mmap_from_export_pci = false;
	caps->sync_event_export_pci = caps->sync_event_from_export_pci = false;
	caps->rep_filter_all = caps->rep_filter_net = caps->rep_filter_emulated = false;
}

/* As a network card (profile connectx-7). */
static void remove_all_engines(struct pcie_caps *caps)
{
	remove_crossing(caps);
	caps->dma_memcpy = caps->cache_invalidate = false;
	caps->dma_max_buf_bytes = caps->cache_invalidate_max_buf_bytes = 0;
	caps->dma_max_list_len = caps->dma_max_tasks = 0;
	memset(caps->accel, 0, sizeof(caps->accel));
	caps->comch_max_name_len = caps->comch_max_msg_bytes = caps->comch_max_recv_queue = 0;
	caps->comch_max_send_tasks = caps->comch_max_clients = caps->comch_max_fast_tasks = 0;
	caps->comch_max_buf_bytes = caps->comch_max_imm_bytes = 0;
	caps->comch_max_consumers = caps->comch_max_producers = 0;
}

struct pcie_caps pcie_draft_default_caps(const struct pcie_card *card, const struct pcie_function *function)
{
	bool is_dpu = pcie_side_is_dpu(function->side);
	struct pcie_caps caps = is_dpu ? card->profile->dpu_caps : card->profile->host_caps;

	/* An SF of the Arm cores does not manage the embedded switch: it holds no representor. */
	if (is_dpu && function->type == PCIE_FUNC_SF)
		remove_crossing(&caps);
	if (card->mode == PCIE_MODE_SEPARATED)
		remove_crossing(&caps);
	else if (card->mode == PCIE_MODE_NIC)
		remove_all_engines(&caps);
	return caps;
}
