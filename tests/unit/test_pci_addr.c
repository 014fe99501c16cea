/* SPDX-License-Identifier: BSD-3-Clause */
/* PCI addresses: valid texts, and the text of an address. */
#include <errno.h>

#include "cmocka_test.h"
#include "pcie_model/pci_addr.h"

static void assert_addr(const struct pcie_addr *addr, unsigned int domain, unsigned int bus, unsigned int device,
			unsigned int function)
{
	assert_int_equal(addr->domain, domain);
	assert_int_equal(addr->bus, bus);
	assert_int_equal(addr->device, device);
	assert_int_equal(addr->function, function);
}

static void test_short_form_is_in_domain_zero(void **state)
{
	struct pcie_addr addr = { .domain = 7 };

	assert_int_equal(pcie_addr_parse("b1:1f.7", &addr), 0);
	assert_addr(&addr, 0, 0xb1, 0x1f, 7);
}

static void test_long_form_has_a_domain(void **state)
{
	struct pcie_addr addr;

	assert_int_equal(pcie_addr_parse("fe01:00:0a.3", &addr), 0);
	assert_addr(&addr, 0xfe01, 0, 0x0a, 3);
}

static void test_upper_case_is_the_same_address(void **state)
{
	struct pcie_addr lower, upper;

	assert_int_equal(pcie_addr_parse("00ab:cd:1e.0", &lower), 0);
	assert_int_equal(pcie_addr_parse("00AB:CD:1E.0", &upper), 0);
	assert_true(pcie_addr_equal(&lower, &upper));
}

static void test_anything_else_is_refused_and_changes_nothing(void **state)
{
	static const char *const bad[] = {
		"",
		"zz",
		"b1",
		"b1:00",
		"b1:00.",
		"b1:00.00",
		"b1:0.0",
		"b1-00.0",
		"b1:00:0",
		"b1:20.0", /* device 32 */
		"b1:00.8", /* function 8 */
		"g1:00.0",
		"b1:0g.0",
		"b1:00.g",
		" b1:00.0",
		"b1:00.0 ",
		"b1:00.0\n",
		"+1:00.0",
		"-1:00.0",
		"b1: 0.0",
		"0x1:00.0",
		"0000b1:00.0",
		"000:b1:00.0",
		"00000:b1:00.0",
		"0000:b1:00.0.",
		"0000:b1:00.0 ",
		"0000:b1:20.0",
		"0000:b1:00.8",
		"0000.b1:00.0",
		"00000b1:00.0",
		"0000:0000:b1:00.0",
	};
	const struct pcie_addr before = { 1, 2, 3, 4 };
	struct pcie_addr addr = before;

	assert_int_equal(pcie_addr_parse(NULL, &addr), -EINVAL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (pcie_addr_parse(bad[i], &addr) != -EINVAL)
			fail_msg("\"%s\" was taken for an address", bad[i]);
		assert_true(pcie_addr_equal(&addr, &before));
	}
}

static void test_format_is_lower_case_with_domain(void **state)
{
	const struct pcie_addr low = { 0, 0x03, 0, 1 };
	const struct pcie_addr high = { 0xffff, 0xff, 31, 7 };
	char text[PCIE_ADDR_TEXT_SIZE];

	pcie_addr_format(&low, text);
	assert_string_equal(text, "0000:03:00.1");
	pcie_addr_format(&high, text);
	assert_string_equal(text, "ffff:ff:1f.7");
}

static void test_every_address_of_a_bus_survives_format_and_parse(void **state)
{
	char text[PCIE_ADDR_TEXT_SIZE];

	for (unsigned int devfn = 0; devfn < 256; devfn++) {
		const struct pcie_addr in = { 0x12, 0xb1, (uint8_t)(devfn >> 3), devfn & 7 };
		struct pcie_addr out;

		pcie_addr_format(&in, text);
		assert_int_equal(pcie_addr_parse(text, &out), 0);
		assert_true(pcie_addr_equal(&in, &out));
		assert_int_equal(pcie_addr_parse(text + 5, &out), 0); /* the short form */
		assert_addr(&out, 0, 0xb1, devfn >> 3, devfn & 7);
	}
}

static void test_addresses_differ_in_any_part(void **state)
{
	const struct pcie_addr addr = { 1, 2, 3, 4 };
	const struct pcie_addr others[] = { { 0, 2, 3, 4 }, { 1, 0, 3, 4 }, { 1, 2, 0, 4 }, { 1, 2, 3, 0 } };

	assert_true(pcie_addr_equal(&addr, &addr));
	for (size_t i = 0; i < 4; i++)
		assert_false(pcie_addr_equal(&addr, &others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_form_is_in_domain_zero),
		cmocka_unit_test(test_long_form_has_a_domain),
		cmocka_unit_test(test_upper_case_is_the_same_address),
		cmocka_unit_test(test_anything_else_is_refused_and_changes_nothing),
		cmocka_unit_test(test_format_is_lower_case_with_domain),
		cmocka_unit_test(test_every_address_of_a_bus_survives_format_and_parse),
		cmocka_unit_test(test_addresses_differ_in_any_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
