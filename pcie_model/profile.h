/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/profile.h - what a device model can do, and how fast: the limits of its functions, its timing.
 *
 * A profile is a constant. Each limit says where it comes from; a topology may
 * override single capabilities of a function (topology.h). Timing constants that
 * were fitted to measurements stand in fitted.h (doc/pcie_model.md).
 */
#ifndef PCIE_PROFILE_H
#define PCIE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine.h"
#include "link.h"

/* What one function can do. Booleans are capabilities as the API reports them. */
struct pcie_caps {
	bool dma_memcpy;               /* has a DMA engine that copies memory */
	uint64_t dma_max_buf_bytes;    /* the advertised and enforced cap on one memcpy task */
	uint32_t dma_max_list_len;     /* segments in one source or destination list */
	uint32_t dma_max_tasks;        /* tasks that one DMA context can have */
	bool comch_server;             /* can have Comch servers (the DPU's functions) */
	bool comch_client;             /* can have Comch clients (the host's functions) */
	uint32_t comch_max_name_len;   /* of a server's name, its final zero byte included */
	uint32_t comch_max_msg_bytes;  /* one control message */
	uint32_t comch_max_recv_queue; /* control messages that wait for the receiver */
	uint32_t comch_max_send_tasks; /* that one server or client can have */
	uint32_t comch_max_clients;    /* connected to one server */
	uint32_t comch_max_fast_tasks; /* that one consumer or producer can have */
	uint32_t comch_max_buf_bytes;  /* one message of the fast path */
	uint32_t comch_max_imm_bytes;  /* immediate data that comes with one */
	uint32_t comch_max_consumers;  /* at one end of a connection; or of a MsgQ */
	uint32_t comch_max_producers;
	bool cache_invalidate;                   /* can drop lines of its cores' cache */
	uint64_t cache_invalidate_max_buf_bytes; /* of memory in one such task */
	bool mmap_export_pci;                    /* can export memory over PCI (the host's functions) */
	bool mmap_from_export_pci;               /* can import it (the DPU's functions) */
	bool sync_event_export_pci;              /* can export sync events to the card's other side */
	bool sync_event_from_export_pci;         /* can import them from there */
	bool rep_filter_all;                     /* can list representors at all */
	bool rep_filter_net;
	bool rep_filter_emulated;
	bool hotplug_manager;
	bool notification_moderation;
	bool accelerate_resource_reclaim;
	uint32_t num_completion_vectors;
	uint32_t max_mmap_devices; /* devices that one memory map can be registered on */
};

/* Control messages between host and DPU. */
struct pcie_comch_timing {
	uint64_t send_ps;    /* of its sender's time for each: messages follow no faster */
	uint64_t one_way_ps; /* from one program to the other */
};

struct pcie_profile {
	const char *name; /* "bluefield-2", "bluefield-3", "connectx-7" */
	const char *description;
	uint16_t vendor_id, device_id;         /* PCI ids of its network functions */
	bool has_dpu;                          /* has Arm cores, hence a "dpu" side */
	uint64_t port_rate_bps;                /* active rate of a port, bits per second */
	struct pcie_link link;                 /* to the host */
	struct pcie_engine engine;             /* that copies memory; it has no channels where there is none */
	struct pcie_comch_timing comch_timing; /* all 0 without Comch */
	struct pcie_caps host_caps;            /* of a function on a host side */
	struct pcie_caps dpu_caps;             /* of a function on the DPU side */
};

/* The profile of that name, or NULL. Never freed. */
const struct pcie_profile *pcie_profile_find(const char *name);

/* All profiles, in a fixed order; *ret_count says how many. */
const struct pcie_profile *const *pcie_profile_all(size_t *ret_count);

#endif
