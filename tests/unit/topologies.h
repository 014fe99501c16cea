/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/unit/topologies.h - topologies from texts, which must be right; topologies_teardown() destroys all of them. */
#ifndef TESTS_UNIT_TOPOLOGIES_H
#define TESTS_UNIT_TOPOLOGIES_H

#include <stdio.h>
#include <string.h>

#include "cmocka_test.h"
#include "pcie_model/topology/topology.h"

static struct pcie_topology *topologies[1024];
static size_t num_topologies;

static inline struct pcie_topology *parse_named(const char *name, const char *yaml, size_t len)
{
	char error[PCIE_ERROR_SIZE] = "untouched";

	assert_true(num_topologies < sizeof(topologies) / sizeof(topologies[0]));
	if (pcie_topology_parse(name, yaml, len, &topologies[num_topologies], error))
		fail_msg("%s", error);
	assert_string_equal(error, "");
	return topologies[num_topologies++];
}

static inline struct pcie_topology *parse(const char *yaml)
{
	return parse_named("test.yaml", yaml, strlen(yaml));
}

/* A BlueField-3 with @card, lines of the card besides "profile:", then "functions:" and lines of functions. */
static inline struct pcie_topology *parse_card(const char *card)
{
	char yaml[4096];

	snprintf(yaml, sizeof(yaml), "cards:\n- profile: bluefield-3\n%s", card);
	return parse(yaml);
}

static inline int topologies_teardown(void **state)
{
	while (num_topologies > 0)
		pcie_topology_destroy(topologies[--num_topologies]);
	return 0;
}

#endif
