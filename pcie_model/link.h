/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/link.h - a PCI Express link: what a transfer puts on the wire, and how long that takes.
 *
 *            TX: writes, read requests          The link is seen from the card,
 *   card  ------------------------------>  host which masters the transfers: it
 *         <------------------------------       writes host memory and reads it.
 *            RX: completions with data          Both directions work at once.
 *
 * A write is cut into packets (TLPs) of at most MPS bytes. A read is cut into
 * requests of at most MRRS bytes, which the host answers with completions of at
 * most MPS bytes, or RCB bytes if it cuts there. Each packet has a header and
 * framing. What is left of the line rate for packets depends on how often the
 * link acknowledges, updates flow-control credits and skips for its clocks.
 *
 * All of this is arithmetic on steady streams: there are no credits that run out.
 * Errors are a part of the packets that is sent again, each as often as it takes. Numbers are integers; nothing overflows up to
 * PCIE_LINK_MAX_BYTES. doc/pcie_model.md has the formulas and their sources.
 */
#ifndef PCIE_LINK_H
#define PCIE_LINK_H

#include <stdbool.h>
#include <stdint.h>

#define PCIE_LINK_MAX_BYTES (UINT64_C(1) << 40) /* of one transfer */

/* A link as it was trained and configured. The first five must be set; a link
 * whose switches are all false is the one that published models describe:
 * addresses of 64 bits, and all that the link sends for itself counted. */
struct pcie_link {
	uint32_t generation;  /* 1 to 6: 2.5, 5, 8, 16, 32, 64 GT/s */
	uint32_t lanes;       /* 1, 2, 4, 8, 12, 16 or 32 */
	uint32_t mps_bytes;   /* Max_Payload_Size: 128 to 4096, a power of two */
	uint32_t mrrs_bytes;  /* Max_Read_Request_Size: the same */
	uint32_t rcb_bytes;   /* Read Completion Boundary: 64 to 512, a power of two */
	bool addr32;          /* requests carry addresses of 32 bits */
	bool ecrc;            /* packets end in an end-to-end CRC */
	bool no_ack;          /* leave out acknowledgements (DLLPs) ... */
	bool no_flow_control; /* ... updates of flow-control credits (DLLPs) ... */
	bool no_skip;         /* ... and skip ordered sets */
	bool cut_at_rcb;      /* completions are cut at RCB rather than at MPS */
	/* The rest goes beyond what published models count. */
	bool own_completions; /* no completion answers two requests: matters where MRRS < MPS */
	bool whole_dwords;    /* payload is padded to whole 4-byte words */
	uint32_t replay_ppb;  /* of a billion packets, so many arrive damaged: 0 to 999999999 */
};

/* What a transfer is on the wire: packets, and their bytes with headers, framing and what is sent again. */
struct pcie_wire {
	uint64_t tx_tlps, tx_bytes;
	uint64_t rx_tlps, rx_bytes;
};

/* Time per byte of packets, in picoseconds, as a fraction: what a link costs, worked out once. */
struct pcie_byte_time {
	uint64_t num, den;
};

/* Payload per second, in bits. Larger than what a transfer alone reaches: one follows upon the other. */
struct pcie_bandwidth {
	uint64_t write_bps;
	uint64_t read_bps;
	uint64_t mix_bps; /* in each direction, of as many writes as reads of this size */
};

/* Why @link is none that can be, in a few words for a message; NULL: it is fine.
 * All functions below assume that it is. */
const char *pcie_link_config_error(const struct pcie_link *link);

/* The card writes or reads @bytes of host memory, the first of which lies @offset
 * bytes behind a boundary (0: aligned, as published models assume; else cuts
 * come at aligned addresses). No bytes are no packets. */
void pcie_link_write(const struct pcie_link *link, uint64_t offset, uint64_t bytes, struct pcie_wire *ret_wire);
void pcie_link_read(const struct pcie_link *link, uint64_t offset, uint64_t bytes, struct pcie_wire *ret_wire);

/* The card signals an interrupt: a message, MSI or MSI-X, which is a write of four bytes. */
void pcie_link_interrupt(const struct pcie_link *link, struct pcie_wire *ret_wire);

/* Bits per second: of the line behind its encoding, and what of these is left for packets. */
uint64_t pcie_link_line_bps(const struct pcie_link *link);
uint64_t pcie_link_tlp_bps(const struct pcie_link *link);

/* @tlp_bytes of packets and what the link sends for itself meanwhile, in bytes. */
uint64_t pcie_link_line_bytes(const struct pcie_link *link, uint64_t tlp_bytes);

/* Effective bandwidth of transfers of @bytes each, one behind the other. */
void pcie_link_bandwidth(const struct pcie_link *link, uint64_t bytes, struct pcie_bandwidth *ret_bandwidth);

struct pcie_byte_time pcie_link_byte_time(const struct pcie_link *link);

/* How long @tlp_bytes of packets take in one direction, rounded up. */
uint64_t pcie_tlp_time_ps(const struct pcie_byte_time *byte_time, uint64_t tlp_bytes);

/* How long a transfer takes: the slower direction. */
uint64_t pcie_wire_time_ps(const struct pcie_byte_time *byte_time, const struct pcie_wire *wire);

#endif
