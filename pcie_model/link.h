/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/link.h - a PCI Express link: the packets of a transfer, and their time on the wire.
 *
 *            TX: writes, read requests          The link is seen from the card,
 *   card  ------------------------------>  host which masters the transfers: it
 *         <------------------------------       writes host memory and reads it.
 *            RX: completions with data          Both directions work at once.
 *
 * A write is cut into packets (TLPs) of at most MPS bytes. A read is cut into
 * requests of at most MRRS bytes, which the host answers with completions of at
 * most MPS bytes, or of RCB bytes if it cuts there. Each packet has a header and
 * framing. Acknowledgements, updates of flow-control credits and skip ordered sets take a share
 * of the line rate.
 *
 * The model is arithmetic on steady streams: flow-control credits do not run out. A share of damaged packets is sent
 * again until each has arrived. Numbers are integers, and none overflows up to PCIE_LINK_MAX_BYTES.
 * doc/pcie_model.md has the formulas and their sources.
 */
#ifndef PCIE_LINK_H
#define PCIE_LINK_H

#include <stdbool.h>
#include <stdint.h>

#define PCIE_LINK_MAX_BYTES (UINT64_C(1) << 40) /* of one transfer */

/* A trained and configured link. The first five fields must be set. With all switches false, the link is that of
 * published models: 64-bit addresses, all DLLPs and skip ordered sets counted. */
struct pcie_link {
	uint32_t generation;  /* 1 to 6: 2.5, 5, 8, 16, 32, 64 GT/s */
	uint32_t lanes;       /* 1, 2, 4, 8, 12, 16 or 32 */
	uint32_t mps_bytes;   /* Max_Payload_Size: 128 to 4096, a power of two */
	uint32_t mrrs_bytes;  /* Max_Read_Request_Size: the same */
	uint32_t rcb_bytes;   /* Read Completion Boundary: 64 to 512, a power of two */
	bool addr32;          /* requests carry addresses of 32 bits */
	bool ecrc;            /* packets end in an end-to-end CRC */
	bool no_ack;          /* do not count acknowledgements (DLLPs) */
	bool no_flow_control; /* do not count updates of flow-control credits (DLLPs) */
	bool no_skip;         /* do not count skip ordered sets */
	bool cut_at_rcb;      /* completions are cut at RCB rather than at MPS */
	/* Not in published models: */
	bool own_completions; /* no completion answers two requests: matters where MRRS < MPS */
	bool whole_dwords;    /* payload is padded to whole 4-byte words */
	uint32_t replay_ppb;  /* damaged packets per billion: 0 to 999999999 */
};

/* A transfer on the wire: numbers of packets, and bytes with headers, framing and replays. */
struct pcie_wire {
	uint64_t tx_tlps, tx_bytes;
	uint64_t rx_tlps, rx_bytes;
};

/* Time per byte of packets, in picoseconds, as a fraction. Computed once for a link. */
struct pcie_byte_time {
	uint64_t num, den;
};

/* Payload, in bits per second, of transfers back to back. */
struct pcie_bandwidth {
	uint64_t write_bps;
	uint64_t read_bps;
	uint64_t mix_bps; /* in each direction, for equally many reads and writes */
};

/* Why @link is invalid, as a text for a message; NULL = valid. The functions below require a valid link. */
const char *pcie_link_config_error(const struct pcie_link *link);

/* The card writes or reads @bytes of host memory, which begin @offset bytes after an aligned address. Transfers are cut
 * at aligned addresses; published models assume offset 0. 0 bytes take no packets. */
void pcie_link_write(const struct pcie_link *link, uint64_t offset, uint64_t bytes, struct pcie_wire *ret_wire);
void pcie_link_read(const struct pcie_link *link, uint64_t offset, uint64_t bytes, struct pcie_wire *ret_wire);

/* Bits per second of the line after encoding, and the part of them for packets. */
uint64_t pcie_link_line_bps(const struct pcie_link *link);
uint64_t pcie_link_tlp_bps(const struct pcie_link *link);

/* Effective bandwidth of transfers of @bytes each. */
void pcie_link_bandwidth(const struct pcie_link *link, uint64_t bytes, struct pcie_bandwidth *ret_bandwidth);

struct pcie_byte_time pcie_link_byte_time(const struct pcie_link *link);

/* The time of @tlp_bytes of packets in one direction, rounded up. */
uint64_t pcie_tlp_time_ps(const struct pcie_byte_time *byte_time, uint64_t tlp_bytes);

#endif
