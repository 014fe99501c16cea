/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_types.h - small types shared by the libraries. */
#ifndef DOCA_TYPES_H_
#define DOCA_TYPES_H_

#include <stdint.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* User data of an object or a job, returned with the event. The libraries store it
 * and never read it. */
union doca_data {
	void *ptr;
	uint64_t u64;
};

/* A file descriptor for poll() and epoll; see doca_ctx.h. */
typedef int doca_event_handle_t;
typedef doca_event_handle_t doca_notification_handle_t;

#define doca_event_invalid_handle (-1)

/* Integers in network byte order. */
typedef __be16 doca_be16_t;
typedef __be32 doca_be32_t;
typedef __be64 doca_be64_t;

/* The address of a function on the PCIe bus, as in 1.5: its parts, or the 16-bit
 * number in a request. "b1:00.1" is bus 0xb1, device 0,
 * function 1. */
struct doca_pci_bdf {
	__extension__ union {
		uint16_t raw;
		__extension__ struct {
			uint16_t function : 3;
			uint16_t device : 5;
			uint16_t bus : 8;
		};
	};
};

/* Access to a memory map, as a mask for doca_mmap_set_permissions(). A device of
 * the owning process can always read. DPU_* are for the DPU, after
 * doca_mmap_export_dpu(); RDMA_* for the network, after doca_mmap_export_rdma(). */
enum doca_access_flags {
	DOCA_ACCESS_LOCAL_READ_ONLY = 0,
	DOCA_ACCESS_LOCAL_READ_WRITE = 1 << 0,
	DOCA_ACCESS_RDMA_READ = 1 << 1,
	DOCA_ACCESS_RDMA_WRITE = 1 << 2,
	DOCA_ACCESS_RDMA_ATOMIC = 1 << 3,
	DOCA_ACCESS_DPU_READ_ONLY = 1 << 4,  /* excludes DPU_READ_WRITE */
	DOCA_ACCESS_DPU_READ_WRITE = 1 << 5, /* excludes DPU_READ_ONLY */
};

/* Physical function, virtual function, scalable function (shares its PF's PCI address). */
enum doca_pci_func_type {
	DOCA_PCI_FUNC_PF = 0,
	DOCA_PCI_FUNC_VF = 1,
	DOCA_PCI_FUNC_SF = 2,
};

#define DOCA_GID_BYTE_LENGTH 16

/* Path MTUs in bytes; the last is that of the Ethernet port. */
enum doca_mtu_size {
	DOCA_MTU_SIZE_256_BYTES = 0,
	DOCA_MTU_SIZE_512_BYTES = 1,
	DOCA_MTU_SIZE_1K_BYTES = 2,
	DOCA_MTU_SIZE_2K_BYTES = 3,
	DOCA_MTU_SIZE_4K_BYTES = 4,
	DOCA_MTU_SIZE_RAW_ETHERNET = 5,
};

/* Sending at a given time: not supported, by the card, by DPDK. */
enum doca_eth_wait_on_time {
	DOCA_ETH_WAIT_ON_TIME_NONE = 0,
	DOCA_ETH_WAIT_ON_TIME_NATIVE = 1,
	DOCA_ETH_WAIT_ON_TIME_DPDK = 2,
};

/* The location of memory for a GPU, and its access: the GPU alone; on the GPU,
 * visible to the CPU; the CPU alone; on the CPU, visible to the GPU. */
enum doca_gpu_mem_type {
	DOCA_GPU_MEM_GPU = 0,
	DOCA_GPU_MEM_GPU_CPU = 1,
	DOCA_GPU_MEM_CPU = 2,
	DOCA_GPU_MEM_CPU_GPU = 3,
};

#ifdef __cplusplus
}
#endif

#endif
