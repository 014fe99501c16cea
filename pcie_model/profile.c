/* SPDX-License-Identifier: BSD-3-Clause */
/* The profiles. Where a number was published, its source is next to it;
 * "our choice" marks a plausible value for which no public number was found.
 * A topology can override any capability of a function (doc/topology.md).
 */
#include "profile.h"

#include <string.h>

#include "fitted.h"

#define MELLANOX 0x15b3
#define GBPS     UINT64_C(1000000000)
#define MIB      (UINT64_C(1) << 20)

enum {
	/* Our choice. 3072 task slots over all contexts were seen to run on a
	 * BlueField-3 (Homer project, implementation checkpoint); that was the
	 * application's setting, not the limit. */
	MAX_TASKS = 65536,
	/* Our choice: more than the cards that any topology here puts in one machine. */
	MAX_MMAP_DEVICES = 8,
	/* Our choice. mlx5 gives one vector per CPU at most; a small host. */
	HOST_COMPLETION_VECTORS = 8,
};

/* Comch: the same at both ends of a channel. Its guide gives almost no numbers
 * ("fixed", "depends on the hardware"). */
enum {
	COMCH_MAX_NAME_LEN = 120, /* our choice */
	/* The largest that public samples use (NVIDIA-DOCA/doca-samples, MAX_SAMPLE_TXT_SIZE). */
	COMCH_MAX_MSG_BYTES = 4080,
	COMCH_MAX_RECV_QUEUE = 8192, /* our choice; public samples use 8 and 10 */
	COMCH_MAX_SEND_TASKS = 8192, /* our choice; public samples use 1024 */
	/* Our choice; 200 were seen on a BlueField-3 (jukebox03/DPUmesh, bench report). */
	COMCH_MAX_CLIENTS = 2048,
	/* Our choice within what was seen on a BlueField-3, of a MsgQ's consumer: 1024 work,
	 * 4096 fail (jukebox03/thrift_dpumesh_extended, transport benchmark report). */
	COMCH_MAX_FAST_TASKS = 2048,
	COMCH_MAX_BUF_BYTES = 1 << 30, /* "1GB or more": Comch guide, table of features */
	COMCH_MAX_IMM_BYTES = 32,      /* Comch guide, to and from the DPA; our choice elsewhere */
	COMCH_MAX_CONSUMERS = 1024,    /* our choice */
	COMCH_MAX_PRODUCERS = 1024,    /* our choice */
};

#define COMCH_LIMITS                                                                                \
	.comch_max_name_len = COMCH_MAX_NAME_LEN, .comch_max_msg_bytes = COMCH_MAX_MSG_BYTES,       \
	.comch_max_recv_queue = COMCH_MAX_RECV_QUEUE, .comch_max_send_tasks = COMCH_MAX_SEND_TASKS, \
	.comch_max_clients = COMCH_MAX_CLIENTS, .comch_max_fast_tasks = COMCH_MAX_FAST_TASKS,       \
	.comch_max_buf_bytes = COMCH_MAX_BUF_BYTES, .comch_max_imm_bytes = COMCH_MAX_IMM_BYTES,     \
	.comch_max_consumers = COMCH_MAX_CONSUMERS, .comch_max_producers = COMCH_MAX_PRODUCERS

/* RDMA, the same on both sides and on all cards: our choice after the attributes that mlx5 devices report to verbs (message 1 GiB,
 * work queues of 32768, 30 segments), and the 255 entries of a GID table. */
#define RDMA                                                                                                \
	.rdma = true, .rdma_max_msg_bytes = 1 << 30, .rdma_max_send_queue = 32768, .rdma_max_list_len = 30, \
	.rdma_gids = 255

/* Model time of RDMA. The rows are of perftest between two hosts with a BlueField-3 in NIC mode, at 100 Gb/s, and of one host
 * with itself. No figure was found for other cards, other placements or libdoca_rdma itself: all cards and sides have the same.
 *
 * A receive: sends of 64 and 128 bytes take 0.11 us more than writes. The window: a report of below 1 Gb/s with a round trip of
 * 5 ms. Our choice: the time to submit a request, as of a DMA task; 220 bytes in a request, which perftest's runs of latency had;
 * how the time of one way divides into request_ps, port_ps and deliver_ps, of which the rows show sums; a time-out of
 * 4.096 us * 2^14, as in rdma-core's examples. */
#define RDMA_TIMING                                            \
	.rdma_timing = {                                       \
		.submit_ps = BF3_CPU_SUBMIT_PS,                \
		.request_ps = BF3_RDMA_REQUEST_PS,             \
		.fetch_ps = BF3_RDMA_FETCH_PS,                 \
		.max_inline_bytes = 220,                       \
		.port_ps = BF3_RDMA_PORT_PS,                   \
		.deliver_ps = 300000,                          \
		.receive_ps = 100000,                          \
		.respond_ps = BF3_RDMA_RESPOND_PS,             \
		.complete_ps = BF3_RDMA_COMPLETE_PS,           \
		.read_fs_per_byte = BF3_RDMA_READ_FS_PER_BYTE, \
		.loop_fs_per_byte = BF3_RDMA_LOOP_FS_PER_BYTE, \
		.rate_bps = 100 * GBPS,                        \
		.window_bytes = 600000,                        \
		.retransmission_ps = UINT64_C(67108864000),    \
	}

/* The DPA. 16 cores of 16 execution units (ICNP'24, arXiv 2402.03041); 190 of them are available to programs (issue 1 of a BenchBF3
 * fork). Threads of a launch: 128 (a public benchmark of launches); 12 s of run time (jukebox03/DPUmesh); 1 GiB of memory (the
 * same paper). The same on both sides: our choice. */
#define DPA                                                                                                  \
	.dpa = true, .dpa_cores = 16, .dpa_eus_per_core = 16, .dpa_eus = 190, .dpa_max_launch_threads = 128, \
	.dpa_run_time_ms = 12000, .dpa_heap_bytes = UINT64_C(1) << 30

/* Engines besides DMA, the same on both sides of a card. Length of lists: our choice, but for BlueField-3's decompression.
 * Number of tasks: programs of the astraea project for BlueField-3 configure 65536 tasks of AES-GCM, and of decompression, in a
 * context, and 8192 of erasure coding; SHA: our choice. doc/hardware.md gives the sources. */
enum {
	ACCEL_MAX_LIST_LEN = 128,
	SHA_MAX_TASKS = 8192,
	EC_MAX_TASKS = 8192,
};

#define ACCEL(max_bytes, max_tasks_)                                                                 \
	{                                                                                            \
		.is_supported = true, .max_list_len = ACCEL_MAX_LIST_LEN, .max_tasks = (max_tasks_), \
		.max_buf_bytes = (max_bytes),                                                        \
	}

/* "Up to 2 GB" (vendor guide of DOCA with OpenSSL); the exact bound is our choice. */
#define SHA_MAX_BYTES ((UINT64_C(1) << 31) - 1)

/* 2 MiB for each decompress task on BlueField-3 (experiment log of WR-ZipGuard, DOCA 2.9); on BlueField-2 with releases from 2.5
 * on (digiou/dpu-coprocessing-artifacts, on 2.9), before that 128 MiB. */
#define COMPRESS_MAX_BYTES (2 * MIB)

/* Of a block: comment of a Ceph plugin on DOCA, "1 MB"; the exact bound is our choice. */
#define EC_MAX_BLOCK_BYTES (1 * MIB)

/* Nothing was published: our choice. */
#define AES_GCM_MAX_BYTES (2 * MIB)

/* Model time. Decompression of deflate on BlueField-3: fitted to the rates of 4 KiB to 2 MiB of that log, within 5 %, in host
 * memory and with a link that had trained Gen5 x8. The log has corrected itself since: its ceiling of 188 Gb/s is likely that of
 * the 8 lanes, of which it is 87 %, and not proven to be the engine's; with 16 lanes it "could be ~2x higher". Nobody has measured
 * that, so the rate is a lower bound. Compression on BlueField-2: one job of 100 MB in 0.127 s (takashimakazuki/dpdk_compression). Nothing was
 * published on the others. */
#define TIMED_ACCEL(max_bytes, rate, ns, lanes_)                                                               \
	{                                                                                                      \
		.is_supported = true, .max_list_len = ACCEL_MAX_LIST_LEN, .max_tasks = MAX_TASKS,              \
		.max_buf_bytes = (max_bytes), .rate_bps = (rate), .task_ns = (ns), .measured_lanes = (lanes_), \
	}

#define BF3_INFLATE_BPS     (200 * GBPS)
#define BF3_INFLATE_TASK_NS 4700
#define BF3_INFLATE_LANES   8
#define BF2_DEFLATE_BPS     UINT64_C(6300000000)

/* Up to release 2.2, the work-queue generation. */
#define BF2_WORKQ_COMPRESS_MAX_BYTES (128 * MIB)

#define BF2_DEFLATE(rate)                                                                                 \
	{                                                                                                 \
		.is_supported = true, .max_list_len = ACCEL_MAX_LIST_LEN, .max_tasks = MAX_TASKS,         \
		.max_buf_bytes = COMPRESS_MAX_BYTES, .workq_max_buf_bytes = BF2_WORKQ_COMPRESS_MAX_BYTES, \
		.rate_bps = (rate),                                                                       \
	}

#define BLUEFIELD_2_ACCELS                                                    \
	.accel = {                                                            \
		[PCIE_ACCEL_SHA] = ACCEL(SHA_MAX_BYTES, SHA_MAX_TASKS),       \
		[PCIE_ACCEL_COMPRESS_DEFLATE] = BF2_DEFLATE(BF2_DEFLATE_BPS), \
		[PCIE_ACCEL_DECOMPRESS_DEFLATE] = BF2_DEFLATE(0),             \
	}

#define BLUEFIELD_3_ACCELS                                                                                        \
	.accel = {                                                                                                \
		[PCIE_ACCEL_DECOMPRESS_DEFLATE] =                                                                 \
			TIMED_ACCEL(COMPRESS_MAX_BYTES, BF3_INFLATE_BPS, BF3_INFLATE_TASK_NS, BF3_INFLATE_LANES), \
		[PCIE_ACCEL_DECOMPRESS_LZ4] = ACCEL(COMPRESS_MAX_BYTES, MAX_TASKS),                               \
		[PCIE_ACCEL_ERASURE_CODING] = ACCEL(EC_MAX_BLOCK_BYTES, EC_MAX_TASKS),                            \
		[PCIE_ACCEL_AES_GCM] = ACCEL(AES_GCM_MAX_BYTES, MAX_TASKS),                                       \
	}

/* No public source says how a BlueField's host link is configured: our choice is what
 * hosts commonly set, and what the published ceilings were computed with. */
#define HOST_LINK(generation_, lanes_)                                                                                \
	{                                                                                                             \
		.generation = (generation_), .lanes = (lanes_), .mps_bytes = 256, .mrrs_bytes = 512, .rcb_bytes = 64, \
	}

/* Engines: constants without a measurement. */
enum {
	/* Our choice: more than are needed to fill any path at the rate of one channel. */
	ENGINE_CHANNELS = 16,
	/* Our choice: the card reads the job's description from memory, a round trip on an idle
	 * host (0.3 to 0.4 us: artpol84/poc, HW_characteristics, after pcie-bench). The rest of a
	 * job's latency was measured as a whole and is in complete_ps. */
	ENGINE_SETUP_PS = 350000,
	/* Our choice: a segment's description comes with the job's, and costs a step of it. */
	ENGINE_SEGMENT_PS = 10000,
};

/* Memory maps: the DMA guides of 2.5 to 3.1 have programs on the host that copy between the host's and the DPU's memory,
 * and published programs do that on BlueField-2 (1.5) and BlueField-3 (2.5, 2.9). So each side exports and imports. */
#define MAPS .mmap_export_pci = true, .mmap_from_export_pci = true

/* Sync events: "local PCI" and "remote PCI" may be either side in the public samples, whose two halves are built for
 * the host and for the DPU; so both can export and import. */
#define SYNC_EVENTS .sync_event_export_pci = true, .sync_event_from_export_pci = true

/* Cache invalidation is about the Arm cores' system-level cache, so that only the
 * DPU's functions have it (DOCA Mmap Advise guide: for programs on the BlueField).
 * Its limit: our choice, the same as that of one copy. */

/* Hotplug and emulated functions: off in all profiles. A BlueField-2 has none
 * (public capability log of a BlueField-2, DPU side, in ssbandjl/doca: zero
 * hotplug devices, zero emulated types). For BlueField-3 it is our choice: the
 * firmware has to be configured for emulation first. Moderation of
 * notifications and accelerated resource reclaim: our choice, off. */

static const struct pcie_profile bluefield_2 = {
	.name = "bluefield-2",
	.description = "BlueField-2 DPU, two ports of 100 Gb/s, PCIe Gen4 x16",
	.vendor_id = MELLANOX,
	.device_id = 0xa2d6, /* Linux mlx5_core PCI id table */
	.has_dpu = true,
	.port_rate_bps = 100 * GBPS, /* the two-port 100 Gb/s model */
	.link = HOST_LINK(4, 16), /* Gen4 or Gen3 x16 edge connector: BF2500 user manual, p. 20 */
	.engine = {
		.issuers = {
			[PCIE_ISSUER_CPU] = { .submit_ps = BF2_CPU_SUBMIT_PS, .report_ps = BF3_CPU_REPORT_PS },
		},
		.accept_ps = BF2_ACCEPT_PS,
		.setup_ps = ENGINE_SETUP_PS,
		.segment_ps = ENGINE_SEGMENT_PS,
		/* These two: as on BlueField-3; nothing was published on single copies. */
		.complete_ps = BF3_COMPLETE_PS,
		.channel_fs_per_byte = BF3_CHANNEL_FS_PER_BYTE,
		.channels = ENGINE_CHANNELS,
		/* Reads come near what the link gives; no other ceiling was seen. */
		.read = { .gap_ps = BF2_READ_GAP_PS },
		.write = { .fs_per_byte = BF2_WRITE_FS_PER_BYTE },
		/* Our choice, for want of measurements: as writes. */
		.local = { .fs_per_byte = BF2_WRITE_FS_PER_BYTE },
	},
	.comch_timing = {
		.send_ps = BF3_COMCH_SEND_PS, /* as on BlueField-3 */
		.one_way_ps = BF2_COMCH_ONE_WAY_PS,
	},
	RDMA_TIMING,
	.host_caps = {
		.dma_memcpy = true,
		/* 2 MiB since DOCA 2.9; up to 128 MiB with older firmware
		 * (digiou/dpu-coprocessing-artifacts, paper, issues section) */
		.dma_max_buf_bytes = 2 * MIB,
		.dma_max_list_len = 64, /* our choice: as measured on BlueField-3 */
		.dma_max_tasks = MAX_TASKS,
		BLUEFIELD_2_ACCELS,
		.comch_client = true, /* "clients on the host": Comch guide */
		COMCH_LIMITS,
		RDMA,
		SYNC_EVENTS,
		MAPS,
		.num_completion_vectors = HOST_COMPLETION_VECTORS,
		.max_mmap_devices = MAX_MMAP_DEVICES,
	},
	.dpu_caps = {
		.dma_memcpy = true,
		.dma_max_buf_bytes = 2 * MIB,
		.dma_max_list_len = 64,
		.dma_max_tasks = MAX_TASKS,
		BLUEFIELD_2_ACCELS,
		.comch_server = true, /* "servers on the Arm": Comch guide */
		COMCH_LIMITS,
		.cache_invalidate = true,
		.cache_invalidate_max_buf_bytes = 2 * MIB,
		RDMA,
		SYNC_EVENTS,
		MAPS,
		.rep_filter_all = true,
		.rep_filter_net = true,
		.num_completion_vectors = 8, /* our choice: one per Arm core */
		.max_mmap_devices = MAX_MMAP_DEVICES,
	},
};

static const struct pcie_profile bluefield_3 = {
	.name = "bluefield-3",
	.description = "BlueField-3 DPU (B3220), two ports of 200 Gb/s, PCIe Gen5 x16",
	.vendor_id = MELLANOX,
	.device_id = 0xa2dc, /* Linux mlx5_core PCI id table */
	.has_dpu = true,
	.port_rate_bps = 200 * GBPS, /* B3220: two ports of 200 Gb/s */
	.link = HOST_LINK(5, 16), /* Gen5 x16 gold fingers: BlueField-3 user manual, bifurcation */
	.engine = {
		.issuers = {
			[PCIE_ISSUER_CPU] = { .submit_ps = BF3_CPU_SUBMIT_PS, .report_ps = BF3_CPU_REPORT_PS },
			[PCIE_ISSUER_DPA] = { .submit_ps = BF3_DPA_SUBMIT_PS, .accept_ps = BF3_DPA_ACCEPT_PS },
		},
		.accept_ps = BF2_ACCEPT_PS, /* as on BlueField-2: no measurement here comes near it */
		.setup_ps = ENGINE_SETUP_PS,
		.segment_ps = ENGINE_SEGMENT_PS,
		.complete_ps = BF3_COMPLETE_PS,
		.channel_fs_per_byte = BF3_CHANNEL_FS_PER_BYTE,
		.channels = ENGINE_CHANNELS,
		.read = { .fs_per_byte = BF3_READ_FS_PER_BYTE },
		.write = { .fs_per_byte = BF3_WRITE_FS_PER_BYTE },
		.local = { .fs_per_byte = BF3_LOCAL_FS_PER_BYTE },
	},
	.comch_timing = {
		.send_ps = BF3_COMCH_SEND_PS,
		.one_way_ps = BF2_COMCH_ONE_WAY_PS, /* as on BlueField-2 */
	},
	RDMA_TIMING,
	.host_caps = {
		.dma_memcpy = true,
		/* The device advertises 2 MiB a task (Homer project, implementation
		 * checkpoint; digiou/dpu-coprocessing-artifacts: since DOCA 2.0.1) */
		.dma_max_buf_bytes = 2 * MIB,
		/* measured: jukebox03/DPUmesh, doca/dpu_proxy.c, comment of 07-03 */
		.dma_max_list_len = 64,
		.dma_max_tasks = MAX_TASKS,
		BLUEFIELD_3_ACCELS,
		.comch_client = true, /* "clients on the host": Comch guide */
		COMCH_LIMITS,
		RDMA,
		DPA,
		SYNC_EVENTS,
		MAPS,
		.num_completion_vectors = HOST_COMPLETION_VECTORS,
		.max_mmap_devices = MAX_MMAP_DEVICES,
	},
	.dpu_caps = {
		.dma_memcpy = true,
		.dma_max_buf_bytes = 2 * MIB,
		.dma_max_list_len = 64,
		.dma_max_tasks = MAX_TASKS,
		BLUEFIELD_3_ACCELS,
		.comch_server = true, /* "servers on the Arm": Comch guide */
		COMCH_LIMITS,
		.cache_invalidate = true,
		.cache_invalidate_max_buf_bytes = 2 * MIB,
		RDMA,
		DPA,
		SYNC_EVENTS,
		MAPS,
		.rep_filter_all = true,
		.rep_filter_net = true,
		.num_completion_vectors = 16, /* our choice: one per Arm core */
		.max_mmap_devices = MAX_MMAP_DEVICES,
	},
};

static const struct pcie_profile connectx_7 = {
	.name = "connectx-7",
	.description = "ConnectX-7 network card without Arm cores, 200 Gb/s, PCIe Gen5 x16",
	.vendor_id = MELLANOX,
	.device_id = 0x1021, /* Linux mlx5_core PCI id table */
	.has_dpu = false,
	.port_rate_bps = 200 * GBPS, /* our choice among the models: the two-port 200 Gb/s one */
	.link = HOST_LINK(5, 16), /* public lspci listings of the card: "PCIeGen5 x16" in its VPD */
	/* No DMA engine for applications, and no importer of its memory: our
	 * reading of "DOCA DMA needs a BlueField". Hence no DMA limits either,
	 * and no Comch without Arm cores. */
	RDMA_TIMING,
	.host_caps = {
		RDMA,
		.num_completion_vectors = HOST_COMPLETION_VECTORS,
		.max_mmap_devices = MAX_MMAP_DEVICES,
	},
};

static const struct pcie_profile *const profiles[] = { &bluefield_2, &bluefield_3, &connectx_7 };
static const size_t num_profiles = sizeof(profiles) / sizeof(profiles[0]);

const char *pcie_accel_name(enum pcie_accel accel)
{
	static const char *const names[] = {
#define X(accel_, name) [PCIE_ACCEL_##accel_] = (name),
		PCIE_ACCELS(X)
#undef X
	};

	return names[accel];
}

const struct pcie_profile *pcie_profile_find(const char *name)
{
	if (!name)
		return NULL;
	for (size_t i = 0; i < num_profiles; i++) {
		if (strcmp(profiles[i]->name, name) == 0)
			return profiles[i];
	}
	return NULL;
}

const struct pcie_profile *const *pcie_profile_all(size_t *ret_count)
{
	*ret_count = num_profiles;
	return profiles;
}
