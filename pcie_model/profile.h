/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/profile.h - the capabilities, limits and timing of a device model.
 *
 * A profile is a constant; profile.c gives the source of each limit. A topology may override single
 * capabilities of a function (topology.h). fitted.h has the timing constants that were fitted to
 * measurements (doc/pcie_model.md).
 */
#ifndef PCIE_PROFILE_H
#define PCIE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine.h"
#include "link.h"
#include "net.h"

/* Engines of a card besides DMA, which work on memory of the host or of the DPU: F(X, name, its name in topologies). */
#define PCIE_ACCELS_BY(F, X)                           \
	F(X, SHA, "sha")                               \
	F(X, COMPRESS_DEFLATE, "compress-deflate")     \
	F(X, DECOMPRESS_DEFLATE, "decompress-deflate") \
	F(X, DECOMPRESS_LZ4, "decompress-lz4")         \
	F(X, ERASURE_CODING, "erasure-coding")         \
	F(X, AES_GCM, "aes-gcm")

#define PCIE_ACCEL_ROW(X, accel, name) X(accel, name)
#define PCIE_ACCELS(X)                 PCIE_ACCELS_BY(PCIE_ACCEL_ROW, X)

enum pcie_accel {
#define X(accel, name) PCIE_ACCEL_##accel,
	PCIE_ACCELS(X)
#undef X
		PCIE_NUM_ACCELS,
};

/* Of each engine for AES-GCM (the vendor's reference). */
#define PCIE_AES_GCM_MAX_IV_BYTES 12

/* Limits of an engine; all 0 without it. */
struct pcie_accel_caps {
	bool is_supported;
	uint32_t max_list_len;        /* segments in one source or destination list */
	uint32_t max_tasks;           /* tasks that one context can have, of all its types */
	uint64_t max_buf_bytes;       /* of the source of one task, and of its output; of a block of erasure coding */
	uint64_t workq_max_buf_bytes; /* the same in the work-queue generation; 0 = no other limit */
	uint64_t rate_bps; /* of the larger of source and output, bits per second; 0 = not measured: no model time */
	uint32_t task_ns;  /* added for each task */
	uint32_t
		measured_lanes; /* of the host link with which @rate_bps was measured, and which may have limited it; 0 = no matter */
};

/* Of the card's data-path accelerator (DPA), as programs on a function see it. The key "dpa" of a card gives them for all of its
 * functions. */
#define PCIE_DPA_CAPS(X)                                                                                           \
	X(BOOL, dpa, "dpa") /* can have DPA contexts */                                                            \
	X(COUNT, dpa_cores, "dpa-cores")                                                                           \
	X(COUNT, dpa_eus_per_core, "dpa-eus-per-core")             /* execution units of a core */                 \
	X(COUNT, dpa_eus, "dpa-eus")                               /* execution units of the partition */          \
	X(COUNT, dpa_max_launch_threads, "dpa-max-launch-threads") /* threads of a kernel launch */                \
	X(COUNT, dpa_run_time_ms, "dpa-run-time-ms")               /* a kernel's own time at most; 0 = no limit */ \
	X(BYTES, dpa_heap_bytes, "dpa-heap-bytes")                 /* memory of a context */

/* Capabilities and limits of a function, as the API reports them: X(kind of value, member, its key in topologies). COUNT and
 * SIZE, of bytes, have 32 bits, BYTES 64. */
#define PCIE_CAPS(X)                                                                                                  \
	X(BOOL, dma_memcpy, "dma-memcpy")                   /* has a DMA engine that copies memory */                 \
	X(BYTES, dma_max_buf_bytes, "dma-max-buf-bytes")    /* the advertised and enforced cap on one memcpy task */  \
	X(COUNT, dma_max_list_len, "dma-max-list-len")      /* segments in one source or destination list */          \
	X(COUNT, dma_max_tasks, "dma-max-tasks")            /* tasks that one DMA context can have */                 \
	X(BOOL, comch_server, "comch-server")               /* can have Comch servers (the DPU's functions) */        \
	X(BOOL, comch_client, "comch-client")               /* can have Comch clients (the host's functions) */       \
	X(COUNT, comch_max_name_len, "comch-max-name-len")  /* of a server's name, with its final zero byte */        \
	X(SIZE, comch_max_msg_bytes, "comch-max-msg-bytes") /* one control message */                                 \
	X(COUNT, comch_max_recv_queue, "comch-max-recv-queue") /* control messages queued for the receiver */         \
	X(COUNT, comch_max_send_tasks, "comch-max-send-tasks") /* of one server or client */                          \
	X(COUNT, comch_max_clients, "comch-max-clients")       /* connected to one server */                          \
	X(COUNT, comch_max_fast_tasks, "comch-max-fast-tasks") /* of one consumer or producer */                      \
	X(SIZE, comch_max_buf_bytes, "comch-max-buf-bytes")    /* one message of the fast path */                     \
	X(SIZE, comch_max_imm_bytes, "comch-max-imm-bytes")    /* immediate data of such a message */                 \
	X(COUNT, comch_max_consumers, "comch-max-consumers")   /* at one end of a connection; or of a MsgQ */         \
	X(COUNT, comch_max_producers, "comch-max-producers")                                                          \
	X(BOOL, rdma, "rdma")                                /* can have RDMA contexts */                             \
	X(SIZE, rdma_max_msg_bytes, "rdma-max-msg-bytes")    /* of one task */                                        \
	X(COUNT, rdma_max_send_queue, "rdma-max-send-queue") /* tasks in flight on one connection */                  \
	X(COUNT, rdma_max_list_len, "rdma-max-list-len")     /* local buffers of one task; a receive has one more */  \
	X(COUNT, rdma_gids, "rdma-gids")                     /* entries of the table of GIDs */                       \
	PCIE_DPA_CAPS(X)                                                                                              \
	X(BOOL, cache_invalidate, "cache-invalidate") /* can invalidate lines of its cores' cache */                  \
	X(BYTES, cache_invalidate_max_buf_bytes, "cache-invalidate-max-buf-bytes") /* of memory in one such task */   \
	X(BOOL, mmap_export_pci, "mmap-export-pci")             /* can export memory to the card's other side */      \
	X(BOOL, mmap_from_export_pci, "mmap-from-export-pci")   /* can import memory of the other side */             \
	X(BOOL, sync_event_export_pci, "sync-event-export-pci") /* can export sync events to the card's other side */ \
	X(BOOL, sync_event_from_export_pci,                                                                           \
	  "sync-event-from-export-pci")           /* can import sync events of the other side */                      \
	X(BOOL, rep_filter_all, "rep-filter-all") /* can list representors at all */                                  \
	X(BOOL, rep_filter_net, "rep-filter-net")                                                                     \
	X(BOOL, rep_filter_emulated, "rep-filter-emulated")                                                           \
	X(BOOL, hotplug_manager, "hotplug-manager")                                                                   \
	X(BOOL, notification_moderation, "notification-moderation")                                                   \
	X(BOOL, accelerate_resource_reclaim, "accelerate-resource-reclaim")                                           \
	X(COUNT, num_completion_vectors, "num-completion-vectors")                                                    \
	X(COUNT, max_mmap_devices, "max-mmap-devices") /* devices of one memory map */

#define PCIE_CAP_BOOL  bool
#define PCIE_CAP_COUNT uint32_t
#define PCIE_CAP_SIZE  uint32_t
#define PCIE_CAP_BYTES uint64_t

struct pcie_caps {
#define MEMBER(kind, member, key) PCIE_CAP_##kind member;
	PCIE_CAPS(MEMBER)
#undef MEMBER
	struct pcie_accel_caps accel[PCIE_NUM_ACCELS];
};

/* Timing of control messages between host and DPU. */
struct pcie_comch_timing {
	uint64_t send_ps;    /* the sender's time for a message, which limits the rate */
	uint64_t one_way_ps; /* from one program to the other */
};

struct pcie_profile {
	const char *name; /* "bluefield-2", "bluefield-3", "connectx-7" */
	const char *description;
	uint16_t vendor_id, device_id;         /* PCI ids of its network functions */
	bool has_dpu;                          /* has Arm cores, hence a "dpu" side */
	uint64_t port_rate_bps;                /* active rate of a port, bits per second */
	struct pcie_link link;                 /* to the host */
	struct pcie_engine engine;             /* channels = 0 without a DMA engine */
	struct pcie_comch_timing comch_timing; /* all 0 without Comch */
	struct pcie_rdma_timing rdma_timing;   /* of requests over the network */
	struct pcie_caps host_caps;            /* of a function on a host side */
	struct pcie_caps dpu_caps;             /* of a function on the DPU side */
};

_Static_assert(PCIE_NUM_ACCELS <= PCIE_MAX_ACCELS, "engines have a station each");

/* The name of an engine in topologies. Static. */
const char *pcie_accel_name(enum pcie_accel accel);

/* The profile called @name, or NULL. Static. */
const struct pcie_profile *pcie_profile_find(const char *name);

/* All profiles, in a fixed order; *ret_count is their number. */
const struct pcie_profile *const *pcie_profile_all(size_t *ret_count);

#endif
