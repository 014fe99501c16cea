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

/* The Arm cores are inactive. The guides ask for DPU mode for compression in any memory, and for the other engines only between
 * the host's memory and the DPU's. */
static void enter_nic_mode(struct pcie_caps *caps)
{
	static const enum pcie_accel lost[] = { PCIE_ACCEL_COMPRESS_DEFLATE, PCIE_ACCEL_DECOMPRESS_DEFLATE,
						PCIE_ACCEL_DECOMPRESS_LZ4 };

	remove_crossing(caps);
	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
		memset(&caps->accel[lost[i]], 0, sizeof(caps->accel[lost[i]]));
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
		enter_nic_mode(&caps);
	return caps;
}
