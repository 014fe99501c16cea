/* SPDX-License-Identifier: BSD-3-Clause */
/* A PCI Express link: packets of transfers, overhead of the link, bandwidth. */
#include "link.h"

#include <stddef.h>

#include "u128_priv.h"
#include "pcie_model/arith.h"

#define PPB UINT64_C(1000000000)

/* Sizes in bytes, from the PCI Express base specification. */
enum {
	FRAMING = 8,    /* start or STP, sequence number, LCRC, end: generations 1 to 5 */
	HEADER_32 = 12, /* three words: requests with short addresses, completions */
	HEADER_64 = 16, /* four words: requests with long addresses */
	ECRC = 4,
	DWORD = 4,
	DLLP = 8,          /* with its framing */
	SKIP = 4,          /* length of a skip ordered set, in symbols */
	SKIP_EVERY = 1538, /* interval between skip ordered sets, in symbols */
	FLIT_GENERATION = 6,
};

struct generation {
	uint32_t mega_transfers;           /* per second and lane, one bit each */
	uint32_t payload_bits, coded_bits; /* ratio of bits for packets and DLLPs to all bits */
	uint32_t delay;                    /* internal delay of a port before it answers a packet, in symbols */
};

static const struct generation generations[] = {
	[1] = { 2500, 8, 10, 19 },
	[2] = { 5000, 8, 10, 70 },
	[3] = { 8000, 128, 130, 115 },
	[4] = { 16000, 128, 130, 115 },
	[5] = { 32000, 128, 130, 115 },
	/* Flits of 256 bytes: 236 for packets, the rest for DLLPs, CRC and FEC. */
	[6] = { 64000, 236, 256, 115 },
};

static bool is_power_of_2_between(uint32_t value, uint32_t min, uint32_t max)
{
	return value >= min && value <= max && (value & (value - 1)) == 0;
}

static bool is_link_width(uint32_t lanes)
{
	return is_power_of_2_between(lanes, 1, 32) || lanes == 12;
}

const char *pcie_link_config_error(const struct pcie_link *link)
{
	if (link->generation < 1 || link->generation > 6)
		return "the generation is 1 to 6";
	if (!is_link_width(link->lanes))
		return "a link has 1, 2, 4, 8, 12, 16 or 32 lanes";
	if (!is_power_of_2_between(link->mps_bytes, 128, 4096))
		return "the maximum payload (MPS) is 128, 256, 512, 1024, 2048 or 4096 bytes";
	if (!is_power_of_2_between(link->mrrs_bytes, 128, 4096))
		return "the maximum read request (MRRS) is 128, 256, 512, 1024, 2048 or 4096 bytes";
	if (!is_power_of_2_between(link->rcb_bytes, 64, 512))
		return "the read completion boundary (RCB) is 64, 128, 256 or 512 bytes";
	if (link->replay_ppb >= PPB)
		return "some packets must get through: 0 to 999999999 of a billion are repeated";
	return NULL;
}

/* The number of pieces of a range that is cut at multiples of @unit, a power of two. */
static uint64_t count_pieces(uint64_t offset, uint64_t bytes, uint64_t unit)
{
	return ((offset & (unit - 1)) + bytes + unit - 1) >> __builtin_ctzll(unit);
}

static uint64_t overhead(const struct pcie_link *link, uint64_t header)
{
	return (link->generation >= FLIT_GENERATION ? 0 : FRAMING) + header + (link->ecrc ? ECRC : 0);
}

static uint64_t request_overhead(const struct pcie_link *link)
{
	return overhead(link, link->addr32 ? HEADER_32 : HEADER_64);
}

static uint64_t payload(const struct pcie_link *link, uint64_t offset, uint64_t bytes)
{
	return link->whole_dwords ? count_pieces(offset, bytes, DWORD) * DWORD : bytes;
}

/* If one of n packets is damaged, replays included, n / (n - 1) packets are sent for each. */
static uint64_t with_replays(const struct pcie_link *link, uint64_t bytes)
{
	return link->replay_ppb ? pcie_mul_div_ceil(bytes, PPB, PPB - link->replay_ppb) : bytes;
}

void pcie_link_write(const struct pcie_link *link, uint64_t offset, uint64_t bytes, struct pcie_wire *ret_wire)
{
	*ret_wire = (struct pcie_wire){ 0 };
	if (bytes == 0)
		return;
	ret_wire->tx_tlps = count_pieces(offset, bytes, link->mps_bytes);
	ret_wire->tx_bytes =
		with_replays(link, payload(link, offset, bytes) + ret_wire->tx_tlps * request_overhead(link));
}

/* The largest completion of a read. */
static uint32_t completion_unit(const struct pcie_link *link)
{
	uint32_t unit = link->mps_bytes;

	if (link->cut_at_rcb && link->rcb_bytes < unit)
		unit = link->rcb_bytes;
	if (link->own_completions && link->mrrs_bytes < unit)
		unit = link->mrrs_bytes;
	return unit;
}

void pcie_link_read(const struct pcie_link *link, uint64_t offset, uint64_t bytes, struct pcie_wire *ret_wire)
{
	*ret_wire = (struct pcie_wire){ 0 };
	if (bytes == 0)
		return;
	ret_wire->tx_tlps = count_pieces(offset, bytes, link->mrrs_bytes);
	ret_wire->tx_bytes = with_replays(link, ret_wire->tx_tlps * request_overhead(link));
	ret_wire->rx_tlps = count_pieces(offset, bytes, completion_unit(link));
	ret_wire->rx_bytes =
		with_replays(link, payload(link, offset, bytes) + ret_wire->rx_tlps * overhead(link, HEADER_32));
}

/* The interval between two acknowledgements, and also between two updates of credits, in symbols: the specification's
 * limit for both. The factors, in tenths, are larger for wider links, which receive more packets meanwhile. */
static uint64_t dllp_interval(const struct pcie_link *link)
{
	uint32_t packet = link->mps_bytes + 28;
	uint32_t tenths;

	if (link->mps_bytes <= 256)
		tenths = link->lanes < 8 ? 14 : link->lanes == 8 ? 25 : 30;
	else
		tenths = link->lanes <= 8 ? 10 : 20;
	return packet * tenths / (10 * link->lanes) + generations[link->generation].delay;
}

/* The share of packets in the useful bytes, @ret_num / @ret_den. Flits have separate bytes for DLLPs. */
static void tlp_share(const struct pcie_link *link, uint64_t *ret_num, uint64_t *ret_den)
{
	uint64_t interval = dllp_interval(link);
	uint64_t dllps = link->generation >= FLIT_GENERATION ? 0 : !link->no_ack + !link->no_flow_control;

	*ret_den = interval * SKIP_EVERY;
	*ret_num = *ret_den - dllps * DLLP * SKIP_EVERY - (link->no_skip ? 0 : SKIP * interval);
}

/* Millions of bits per second for packets, as a fraction. */
static void tlp_rate(const struct pcie_link *link, uint64_t *ret_num, uint64_t *ret_den)
{
	const struct generation *generation = &generations[link->generation];
	uint64_t share_num, share_den;

	tlp_share(link, &share_num, &share_den);
	*ret_num = (uint64_t)generation->mega_transfers * generation->payload_bits * link->lanes * share_num;
	*ret_den = generation->coded_bits * share_den;
}

uint64_t pcie_link_line_bps(const struct pcie_link *link)
{
	const struct generation *generation = &generations[link->generation];

	return generation->mega_transfers * UINT64_C(1000000) * generation->payload_bits * link->lanes /
	       generation->coded_bits;
}

/* Payload in bits per second, if @bytes of payload take @wire_bytes of packets in one direction. */
static uint64_t payload_bps(const struct pcie_link *link, uint64_t bytes, uint64_t wire_bytes)
{
	uint64_t num, den;

	if (wire_bytes == 0)
		return 0;
	tlp_rate(link, &num, &den);
	return (uint64_t)((pcie_u128)bytes * num * 1000000 / ((pcie_u128)den * wire_bytes));
}

uint64_t pcie_link_tlp_bps(const struct pcie_link *link)
{
	return payload_bps(link, 1, 1);
}

void pcie_link_bandwidth(const struct pcie_link *link, uint64_t bytes, struct pcie_bandwidth *ret_bandwidth)
{
	struct pcie_wire write, read;

	pcie_link_write(link, 0, bytes, &write);
	pcie_link_read(link, 0, bytes, &read);
	ret_bandwidth->write_bps = payload_bps(link, bytes, write.tx_bytes);
	ret_bandwidth->read_bps = payload_bps(link, bytes, max_u64(read.tx_bytes, read.rx_bytes));
	ret_bandwidth->mix_bps = payload_bps(link, bytes, max_u64(write.tx_bytes + read.tx_bytes, read.rx_bytes));
}

struct pcie_byte_time pcie_link_byte_time(const struct pcie_link *link)
{
	const struct generation *generation = &generations[link->generation];
	uint64_t share_num, share_den;

	/* 8 bits take 8 * 1000000 / mega_transfers ps. The quotient is exact in all generations and keeps products small. */
	tlp_share(link, &share_num, &share_den);
	return (struct pcie_byte_time){
		.num = 8 * 1000000 / generation->mega_transfers * generation->coded_bits * share_den,
		.den = generation->payload_bits * link->lanes * share_num,
	};
}

uint64_t pcie_tlp_time_ps(const struct pcie_byte_time *byte_time, uint64_t tlp_bytes)
{
	return pcie_mul_div_ceil(tlp_bytes, byte_time->num, byte_time->den);
}
