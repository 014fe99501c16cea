/* SPDX-License-Identifier: BSD-3-Clause */
/* The link: packets, bytes and time, against published numbers and by hand. */
#include <string.h>

#include "cmocka_test.h"
#include "link_reference.h"
#include "pcie_model/link.h"

#define UNIT_BPS     UINT64_C(100000) /* of the reference: 0.0001 Gb/s */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct pcie_link gen4_x16 = {
	.generation = 4,
	.lanes = 16,
	.mps_bytes = 256,
	.mrrs_bytes = 512,
	.rcb_bytes = 64,
};

static struct pcie_link link_of(uint32_t generation, uint32_t lanes, uint32_t mps_bytes)
{
	struct pcie_link link = gen4_x16;

	link.generation = generation;
	link.lanes = lanes;
	link.mps_bytes = mps_bytes;
	assert_null(pcie_link_config_error(&link));
	return link;
}

/* The last digit of the reference may have been rounded up. */
static void assert_bps(uint64_t bps, uint64_t units)
{
	assert_in_range(bps, units * UNIT_BPS - UNIT_BPS / 2 - 1, units * UNIT_BPS + UNIT_BPS / 2);
}

static void test_rates_are_those_of_the_reference(void **state)
{
	for (size_t i = 0; i < COUNT(references_rate); i++) {
		const struct reference_rate *want = &references_rate[i];
		struct pcie_link link = link_of(want->generation, want->lanes, want->mps_bytes);

		assert_bps(pcie_link_line_bps(&link), want->line);
		assert_bps(pcie_link_tlp_bps(&link), want->tlp);
	}
}

static void test_bandwidths_are_those_of_the_reference(void **state)
{
	for (size_t i = 0; i < COUNT(references); i++) {
		const struct reference *want = &references[i];
		struct pcie_link link = link_of(want->generation, want->lanes, want->mps_bytes);
		struct pcie_bandwidth bandwidth;

		pcie_link_bandwidth(&link, want->bytes, &bandwidth);
		assert_bps(bandwidth.write_bps, want->write);
		assert_bps(bandwidth.read_bps, want->read);
		assert_bps(bandwidth.mix_bps, want->mix);
	}
}

static void test_completions_cut_at_rcb_are_those_of_the_reference(void **state)
{
	for (size_t i = 0; i < COUNT(references_rcb); i++) {
		const struct reference_rcb *want = &references_rcb[i];
		struct pcie_link link = link_of(want->generation, want->lanes, want->mps_bytes);
		struct pcie_bandwidth bandwidth;

		link.cut_at_rcb = true;
		pcie_link_bandwidth(&link, want->bytes, &bandwidth);
		assert_bps(bandwidth.read_bps, want->read);
	}
}

/* "Any larger multiple of 256 gives the same values as 4096 (checked at 65536 and 2097152)." */
static void test_whole_packets_reach_the_same_at_any_size(void **state)
{
	static const uint64_t sizes[] = { 65536, 2097152, PCIE_LINK_MAX_BYTES };
	struct pcie_bandwidth want, bandwidth;

	pcie_link_bandwidth(&gen4_x16, 4096, &want);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		pcie_link_bandwidth(&gen4_x16, sizes[i], &bandwidth);
		assert_memory_equal(&bandwidth, &want, sizeof(want));
	}
}

/* 1000 bytes in packets of up to 256 are 4, each with 24 bytes around it: 8 of framing, 4 words of header. */
static void test_a_write_has_a_header_on_each_packet(void **state)
{
	struct pcie_wire wire;

	pcie_link_write(&gen4_x16, 0, 1000, &wire);
	assert_int_equal(wire.tx_tlps, 4);
	assert_int_equal(wire.tx_bytes, 1000 + 4 * 24);
	assert_int_equal(wire.rx_tlps, 0);
	assert_int_equal(wire.rx_bytes, 0);
}

/* 1000 bytes are 2 requests of up to 512, answered by 4 completions with 20 bytes around each. */
static void test_a_read_sends_requests_and_receives_completions(void **state)
{
	struct pcie_wire wire;

	pcie_link_read(&gen4_x16, 0, 1000, &wire);
	assert_int_equal(wire.tx_tlps, 2);
	assert_int_equal(wire.tx_bytes, 2 * 24);
	assert_int_equal(wire.rx_tlps, 4);
	assert_int_equal(wire.rx_bytes, 1000 + 4 * 20);
}

static void test_nothing_to_move_is_nothing_on_the_wire(void **state)
{
	static const struct pcie_wire none;
	struct pcie_bandwidth bandwidth;
	struct pcie_wire wire;

	pcie_link_write(&gen4_x16, 5, 0, &wire);
	assert_memory_equal(&wire, &none, sizeof(none));
	pcie_link_read(&gen4_x16, 5, 0, &wire);
	assert_memory_equal(&wire, &none, sizeof(none));
	pcie_link_bandwidth(&gen4_x16, 0, &bandwidth);
	assert_int_equal(bandwidth.write_bps, 0);
	assert_int_equal(bandwidth.read_bps, 0);
	assert_int_equal(bandwidth.mix_bps, 0);
}

/* Four bytes and a write's overhead; the address may be short. */
static void test_an_interrupt_is_a_write_of_one_word(void **state)
{
	struct pcie_link link = gen4_x16;
	struct pcie_wire wire;

	pcie_link_write(&link, 0, 4, &wire);
	assert_int_equal(wire.tx_tlps, 1);
	assert_int_equal(wire.tx_bytes, 4 + 24);
	link.addr32 = true;
	pcie_link_write(&link, 0, 4, &wire);
	assert_int_equal(wire.tx_bytes, 4 + 20);
}

static void test_short_addresses_save_a_word_and_ecrc_costs_one(void **state)
{
	struct pcie_link link = gen4_x16;
	struct pcie_wire wire;

	link.addr32 = true;
	pcie_link_read(&link, 0, 512, &wire);
	assert_int_equal(wire.tx_bytes, 20);
	assert_int_equal(wire.rx_bytes, 512 + 2 * 20);
	link.ecrc = true;
	pcie_link_read(&link, 0, 512, &wire);
	assert_int_equal(wire.tx_bytes, 24);
	assert_int_equal(wire.rx_bytes, 512 + 2 * 24);
}

/* 256 bytes that start 16 behind a boundary touch two packets' worth; 512 that do, two requests and three completions. */
static void test_an_unaligned_transfer_has_one_cut_more(void **state)
{
	struct pcie_wire wire;

	pcie_link_write(&gen4_x16, 16, 256, &wire);
	assert_int_equal(wire.tx_tlps, 2);
	pcie_link_read(&gen4_x16, 16, 512, &wire);
	assert_int_equal(wire.tx_tlps, 2);
	assert_int_equal(wire.rx_tlps, 3);
	pcie_link_write(&gen4_x16, 4096, 256, &wire);
	assert_int_equal(wire.tx_tlps, 1);
}

/* MRRS 128 below MPS 256: 1024 bytes are 8 requests; a completion of 256 bytes would answer two at once. */
static void test_own_completions_are_no_longer_than_requests(void **state)
{
	struct pcie_link link = gen4_x16;
	struct pcie_wire wire;

	link.mrrs_bytes = 128;
	pcie_link_read(&link, 0, 1024, &wire);
	assert_int_equal(wire.rx_tlps, 4);
	link.own_completions = true;
	pcie_link_read(&link, 0, 1024, &wire);
	assert_int_equal(wire.tx_tlps, 8);
	assert_int_equal(wire.rx_tlps, 8);
}

/* 5 bytes from the third byte of a word on lie in two words; 7 in three. */
static void test_whole_dwords_pad_the_payload(void **state)
{
	struct pcie_link link = gen4_x16;
	struct pcie_wire wire;

	link.whole_dwords = true;
	pcie_link_write(&link, 3, 5, &wire);
	assert_int_equal(wire.tx_bytes, 8 + 24);
	pcie_link_read(&link, 3, 7, &wire);
	assert_int_equal(wire.rx_bytes, 12 + 20);
	pcie_link_write(&link, 0, 64, &wire);
	assert_int_equal(wire.tx_bytes, 64 + 24);
}

/* Without packets of its own, the link uses the whole line: 16 lanes of 16 GT/s at 128 of 130 bits. */
static void test_each_overhead_can_be_left_out(void **state)
{
	struct pcie_link link = gen4_x16;
	uint64_t full = pcie_link_tlp_bps(&link), less;

	link.no_ack = true;
	less = pcie_link_tlp_bps(&link);
	assert_true(less > full);
	link.no_flow_control = true;
	assert_true(pcie_link_tlp_bps(&link) > less);
	link.no_skip = true;
	assert_int_equal(pcie_link_tlp_bps(&link), pcie_link_line_bps(&link));
	assert_int_equal(pcie_link_line_bps(&link), UINT64_C(16) * 16 * 1000000000 * 128 / 130);
}

/* Of 168 bytes that the other side receives, 8 are an acknowledgement and 8 an update of credits, which
 * leaves 152; skips take 4 of 1538 more: 1000 bytes of packets are 1108.4 on the line. */
static void test_the_line_carries_what_the_link_sends_for_itself(void **state)
{
	uint64_t line_bps = pcie_link_line_bps(&gen4_x16), tlp_bps = pcie_link_tlp_bps(&gen4_x16);

	assert_in_range(tlp_bps * 11084 / 10000, line_bps - line_bps / 20000, line_bps + line_bps / 20000);
}

/* 2.5 GT/s with 8 of 10 bits are 2 Gb/s: a byte takes 4 ns on one lane. */
static void test_time_is_bytes_at_the_rate_that_is_left(void **state)
{
	struct pcie_link link = gen4_x16;
	struct pcie_byte_time byte_time;

	link.generation = 1;
	link.lanes = 1;
	link.no_ack = link.no_flow_control = link.no_skip = true;
	byte_time = pcie_link_byte_time(&link);
	assert_int_equal(pcie_tlp_time_ps(&byte_time, 1), 4000);
	assert_int_equal(pcie_tlp_time_ps(&byte_time, 1000), 4000000);
	assert_int_equal(pcie_tlp_time_ps(&byte_time, 0), 0);
}

/* The largest transfer on the slowest link: 2^40 bytes at 4 ns are 73 minutes, and headers. */
static void test_the_largest_transfer_does_not_overflow(void **state)
{
	struct pcie_link slow = link_of(1, 1, 128), fast = link_of(6, 32, 4096);
	struct pcie_byte_time byte_time = pcie_link_byte_time(&slow);
	struct pcie_bandwidth bandwidth;
	struct pcie_wire wire;
	uint64_t ps;

	pcie_link_read(&slow, 4095, PCIE_LINK_MAX_BYTES, &wire);
	ps = pcie_tlp_time_ps(&byte_time, wire.rx_bytes);
	assert_in_range(ps, PCIE_LINK_MAX_BYTES * 4000, PCIE_LINK_MAX_BYTES * 4000 / 4 * 5);
	pcie_link_bandwidth(&fast, PCIE_LINK_MAX_BYTES, &bandwidth);
	assert_in_range(bandwidth.write_bps, UINT64_C(1800000000000), UINT64_C(2048000000000));
}

/* Generation 6 packs packets into flits, 236 bytes of 256, DLLPs beside them: no framing, and no less for acknowledgements. */
static void test_generation_6_carries_packets_in_flits(void **state)
{
	struct pcie_link link = link_of(6, 16, 256), without = link;
	struct pcie_wire wire;

	pcie_link_write(&link, 0, 256, &wire);
	assert_int_equal(wire.tx_bytes, 256 + 16);
	assert_int_equal(pcie_link_line_bps(&link), UINT64_C(64) * 16 * 1000000000 * 236 / 256);
	without.no_ack = without.no_flow_control = true;
	assert_int_equal(pcie_link_tlp_bps(&link), pcie_link_tlp_bps(&without));
}

/* One of four packets is damaged, and one of four of those that replace them: 4/3 are sent for each. */
static void test_damaged_packets_are_sent_again(void **state)
{
	struct pcie_link link = gen4_x16;
	struct pcie_wire well, damaged;

	pcie_link_read(&link, 0, 4096, &well);
	link.replay_ppb = 250000000;
	pcie_link_read(&link, 0, 4096, &damaged);
	assert_int_equal(damaged.rx_bytes, (well.rx_bytes * 4 + 2) / 3);
	assert_int_equal(damaged.tx_bytes, (well.tx_bytes * 4 + 2) / 3);
	assert_int_equal(damaged.rx_tlps, well.rx_tlps);
	pcie_link_write(&link, 0, 4096, &damaged);
	link.replay_ppb = 0;
	pcie_link_write(&link, 0, 4096, &well);
	assert_int_equal(damaged.tx_bytes, (well.tx_bytes * 4 + 2) / 3);
	link.replay_ppb = 999999999;
	assert_null(pcie_link_config_error(&link));
	link.replay_ppb = 1000000000;
	assert_non_null(pcie_link_config_error(&link));
}

static void test_wider_and_newer_links_are_faster(void **state)
{
	static const uint32_t widths[] = { 1, 2, 4, 8, 12, 16, 32 };
	uint64_t last = 0;

	for (size_t i = 0; i < COUNT(widths); i++) {
		struct pcie_link link = link_of(3, widths[i], 256);

		assert_true(pcie_link_tlp_bps(&link) > last);
		last = pcie_link_tlp_bps(&link);
	}
	last = 0;
	for (uint32_t generation = 1; generation <= 6; generation++) {
		struct pcie_link link = link_of(generation, 16, 256);

		assert_true(pcie_link_tlp_bps(&link) > last);
		last = pcie_link_tlp_bps(&link);
	}
}

/* Required text of the message, and the link that causes it. */
static void test_links_that_cannot_be_are_named(void **state)
{
	static const struct {
		const char *says;
		uint32_t generation, lanes, mps_bytes, mrrs_bytes, rcb_bytes;
	} wrong[] = {
		{ "generation", 0, 16, 256, 512, 64 }, { "generation", 7, 16, 256, 512, 64 },
		{ "lanes", 4, 0, 256, 512, 64 },       { "lanes", 4, 3, 256, 512, 64 },
		{ "lanes", 4, 64, 256, 512, 64 },      { "MPS", 4, 16, 64, 512, 64 },
		{ "MPS", 4, 16, 8192, 512, 64 },       { "MPS", 4, 16, 300, 512, 64 },
		{ "MRRS", 4, 16, 256, 0, 64 },         { "MRRS", 4, 16, 256, 513, 64 },
		{ "RCB", 4, 16, 256, 512, 32 },        { "RCB", 4, 16, 256, 512, 1024 },
	};

	assert_null(pcie_link_config_error(&gen4_x16));
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct pcie_link link = { wrong[i].generation,
					  wrong[i].lanes,
					  wrong[i].mps_bytes,
					  wrong[i].mrrs_bytes,
					  wrong[i].rcb_bytes,
					  false,
					  false,
					  false,
					  false,
					  false,
					  false,
					  false,
					  false,
					  0 };

		assert_non_null(pcie_link_config_error(&link));
		assert_non_null(strstr(pcie_link_config_error(&link), wrong[i].says));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates_are_those_of_the_reference),
		cmocka_unit_test(test_bandwidths_are_those_of_the_reference),
		cmocka_unit_test(test_completions_cut_at_rcb_are_those_of_the_reference),
		cmocka_unit_test(test_whole_packets_reach_the_same_at_any_size),
		cmocka_unit_test(test_a_write_has_a_header_on_each_packet),
		cmocka_unit_test(test_a_read_sends_requests_and_receives_completions),
		cmocka_unit_test(test_nothing_to_move_is_nothing_on_the_wire),
		cmocka_unit_test(test_an_interrupt_is_a_write_of_one_word),
		cmocka_unit_test(test_short_addresses_save_a_word_and_ecrc_costs_one),
		cmocka_unit_test(test_an_unaligned_transfer_has_one_cut_more),
		cmocka_unit_test(test_own_completions_are_no_longer_than_requests),
		cmocka_unit_test(test_whole_dwords_pad_the_payload),
		cmocka_unit_test(test_each_overhead_can_be_left_out),
		cmocka_unit_test(test_the_line_carries_what_the_link_sends_for_itself),
		cmocka_unit_test(test_time_is_bytes_at_the_rate_that_is_left),
		cmocka_unit_test(test_the_largest_transfer_does_not_overflow),
		cmocka_unit_test(test_generation_6_carries_packets_in_flits),
		cmocka_unit_test(test_damaged_packets_are_sent_again),
		cmocka_unit_test(test_wider_and_newer_links_are_faster),
		cmocka_unit_test(test_links_that_cannot_be_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
