/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a session, without a process or a socket: two cards, with a
 * host, and a DPU on each.
 *
 *   function 0: left/dpu    1: host (left card)    2: right/dpu    3: host (right card)
 *
 * The host exports memory, the DPUs import it; function 4 (host) can do neither.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_test.h"
#include "sim/card/card.h"

enum { LEFT_DPU, LEFT_HOST, RIGHT_DPU, RIGHT_HOST, INCAPABLE };

static const char yaml[] = "cards:\n"
			   "- name: left\n"
			   "  profile: bluefield-3\n"
			   "  functions:\n"
			   "  - {side: left/dpu, type: pf, pci: \"03:00.0\", caps: {mmap-export-pci: false}}\n"
			   "  - {side: host, type: pf, pci: \"b1:00.0\", caps: {mmap-from-export-pci: false}}\n"
			   "- name: right\n"
			   "  profile: bluefield-3\n"
			   "  functions:\n"
			   "  - {side: right/dpu, type: pf, pci: \"03:00.0\"}\n"
			   "  - {side: host, type: pf, pci: \"ca:00.0\"}\n"
			   "  - {side: host, type: pf, pci: \"ca:00.1\", caps: {mmap-export-pci: false,\n"
			   "     sync-event-export-pci: false, sync-event-from-export-pci: false}}\n";

static const uint8_t secret[SIM_SECRET_SIZE] = "0123456789abcde", other_secret[SIM_SECRET_SIZE] = "fedcba987654321";

/* A card with three processes. */
struct fixture {
	struct pcie_topology *topology;
	struct sim_card *card;
	uint32_t host, left, right;
	char told[256];       /* the arguments of the callbacks: "peer:key " each */
	uint64_t told_memory; /* by the last callback */
	char one[64];
};

static uint32_t attach(struct fixture *f, const char *side)
{
	struct sim_peer_info info = { .pid = 100 };
	uint32_t peer = UINT32_MAX;

	strncpy(info.side, side, sizeof(info.side) - 1);
	assert_int_equal(sim_card_attach(f->card, &info, &peer), 0);
	return peer;
}

static int setup(void **state)
{
	struct fixture *f = test_calloc(1, sizeof(*f));
	char error[PCIE_ERROR_SIZE];

	assert_int_equal(pcie_topology_parse("test", yaml, strlen(yaml), &f->topology, error), 0);
	assert_int_equal(sim_card_create(f->topology, &f->card), 0);
	f->host = attach(f, "host");
	f->left = attach(f, "left/dpu");
	f->right = attach(f, "right/dpu");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	sim_card_destroy(f->card);
	pcie_topology_destroy(f->topology);
	test_free(f);
	return 0;
}

static void note(void *arg, uint32_t peer, uint64_t key, uint64_t memory)
{
	struct fixture *f = arg;
	size_t used = strlen(f->told);

	f->told_memory = memory;
	snprintf(f->told + used, sizeof(f->told) - used, "%u:%llx ", peer, (unsigned long long)key);
}

static void expect_told(struct fixture *f, const char *expected)
{
	assert_string_equal(f->told, expected);
	f->told[0] = '\0';
}

static const char *told_one(struct fixture *f, uint32_t peer, uint64_t key)
{
	snprintf(f->one, sizeof(f->one), "%u:%llx ", peer, (unsigned long long)key);
	return f->one;
}

static struct sim_region region_of(uint32_t function)
{
	return (struct sim_region){
		.addr = 0x10000, .cpu_addr = 0x10000, .len_bytes = 4096, .access = SIM_ACCESS_READ, .function = function
	};
}

static struct sim_key export(struct fixture *f)
{
	struct sim_region region = region_of(LEFT_HOST);
	struct sim_key key;

	memcpy(key.secret, secret, sizeof(secret));
	assert_int_equal(sim_card_export(f->card, f->host, &region, secret, &key.id), 0);
	return key;
}

static int import_by(struct fixture *f, uint32_t peer, const struct sim_key *key, uint32_t function)
{
	struct sim_card_memory memory = { .exporter = UINT32_MAX };
	const struct sim_region *region = NULL;
	int rc = sim_card_import(f->card, peer, key, function, &region, &memory);

	if (rc == 0) {
		assert_int_equal(region->addr, 0x10000);
		assert_int_equal(memory.exporter, f->host);
	}
	return rc;
}

static int import(struct fixture *f, const struct sim_key *key)
{
	return import_by(f, f->left, key, LEFT_DPU);
}

static void test_a_side_that_the_topology_lacks_is_refused(void **state)
{
	struct fixture *f = *state;
	struct sim_peer_info info = { .side = "middle/dpu" };
	uint32_t peer = 77;

	assert_int_equal(sim_card_attach(f->card, &info, &peer), -ENOENT);
	assert_int_equal(peer, 77);
}

static void test_a_peer_is_what_it_said_until_it_leaves(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(sim_card_peer(f->card, f->left)->side, "left/dpu");
	sim_card_detach(f->card, f->left, note, f);
	assert_null(sim_card_peer(f->card, f->left));
	assert_null(sim_card_peer(f->card, 12345));
}

static void test_a_place_that_became_free_is_used_again(void **state)
{
	struct fixture *f = *state;

	sim_card_detach(f->card, f->left, note, f);
	assert_int_equal(attach(f, "right/dpu"), f->left);
	assert_string_equal(sim_card_peer(f->card, f->left)->side, "right/dpu");
}

static void test_an_exported_key_can_be_imported(void **state)
{
	struct fixture *f = *state;
	struct sim_key key = export(f);

	assert_int_equal(import(f, &key), 0);
}

static void test_a_wrong_secret_is_as_good_as_no_key(void **state)
{
	struct fixture *f = *state;
	struct sim_key key = export(f);

	for (int i = 0; i < SIM_SECRET_SIZE; i++) {
		key.secret[i] ^= 1;
		assert_int_equal(import(f, &key), -ESTALE);
		key.secret[i] ^= 1;
	}
	key.id += 1;
	assert_int_equal(import(f, &key), -ESTALE);
	key.id = UINT64_MAX;
	assert_int_equal(import(f, &key), -ESTALE);
}

static void test_regions_that_make_no_sense_are_refused(void **state)
{
	struct fixture *f = *state;
	struct sim_region empty = region_of(LEFT_HOST), wrapping = empty, foreign = empty, unknown = empty,
			  wrong = empty;
	uint64_t key;

	empty.len_bytes = 0;
	wrapping.len_bytes = UINT64_MAX;
	foreign.function = LEFT_DPU;
	unknown.function = 5;
	wrong.function = INCAPABLE;
	assert_int_equal(sim_card_export(f->card, f->host, &empty, secret, &key), -EINVAL);
	assert_int_equal(sim_card_export(f->card, f->host, &wrapping, secret, &key), -EINVAL);
	assert_int_equal(sim_card_export(f->card, f->host, &foreign, secret, &key), -EINVAL);
	assert_int_equal(sim_card_export(f->card, f->host, &unknown, secret, &key), -EINVAL);
	assert_int_equal(sim_card_export(f->card, f->host, &wrong, secret, &key), -ENOTSUP);
}

static void test_a_peer_that_left_can_do_nothing(void **state)
{
	struct fixture *f = *state;
	struct sim_region region = region_of(LEFT_HOST);
	struct sim_key key = export(f);
	uint64_t other;

	sim_card_detach(f->card, f->left, note, f);
	assert_int_equal(import(f, &key), -EINVAL);
	sim_card_detach(f->card, f->host, note, f);
	assert_int_equal(sim_card_export(f->card, f->host, &region, secret, &other), -EINVAL);
	sim_card_detach(f->card, f->host, note, f);
	expect_told(f, "");
}

static void test_an_import_goes_through_an_able_function_of_ones_own(void **state)
{
	struct fixture *f = *state;
	struct sim_key key = export(f);

	assert_int_equal(import_by(f, f->left, &key, RIGHT_DPU), -EINVAL);
	assert_int_equal(import_by(f, f->left, &key, 99), -EINVAL);
	assert_int_equal(import_by(f, f->host, &key, LEFT_HOST), -ENOTSUP);
}

/* Capabilities for memory and for sync events are independent: the DPU exports only the latter, the host imports
 * only the latter. */
static void test_sync_events_go_both_ways(void **state)
{
	struct fixture *f = *state;
	struct sim_region region = region_of(LEFT_DPU), wrong = region_of(INCAPABLE);
	const struct sim_region *imported;
	struct sim_card_memory memory;
	struct sim_key key;

	memcpy(key.secret, secret, sizeof(secret));
	assert_int_equal(sim_card_export(f->card, f->left, &region, secret, &key.id), -ENOTSUP);
	region.access = wrong.access = SIM_ACCESS_SYNC;
	assert_int_equal(sim_card_export(f->card, f->host, &wrong, secret, &key.id), -ENOTSUP);
	assert_int_equal(sim_card_export(f->card, f->left, &region, secret, &key.id), 0);
	assert_int_equal(sim_card_import(f->card, f->host, &key, INCAPABLE, &imported, &memory), -ENOTSUP);
	assert_int_equal(sim_card_import(f->card, f->host, &key, LEFT_HOST, &imported, &memory), 0);
	assert_int_equal(imported->access, SIM_ACCESS_SYNC);
	assert_int_equal(memory.exporter, f->left);
}

static void test_memory_of_another_card_is_out_of_reach(void **state)
{
	struct fixture *f = *state;
	struct sim_key key = export(f);

	assert_int_equal(import_by(f, f->right, &key, RIGHT_DPU), -EXDEV);
}

/* ---- relations ---- */

/* One card with two hosts. The DPU's n-th function represents the n-th ones of both, and the hosts' SFs and VFs with them. */
static const char related_yaml[] = "cards:\n"
				   "- profile: bluefield-3\n"
				   "  functions:\n"
				   "  - {side: dpu, type: pf, pci: \"03:00.0\"}\n"
				   "  - {side: dpu, type: pf, pci: \"03:00.1\"}\n"
				   "  - {side: host, type: pf, pci: \"b1:00.0\"}\n"
				   "  - {side: host, type: pf, pci: \"b1:00.1\"}\n"
				   "  - {side: host, type: vf, pci: \"b1:00.2\", parent: \"b1:00.1\"}\n"
				   "  - {side: 2/host, type: pf, pci: \"c1:00.0\"}\n"
				   "- profile: bluefield-3\n"
				   "  functions:\n"
				   "  - {side: host, type: pf, pci: \"ca:00.0\"}\n";

#define NUM_RELATED 7

/* [exporter][importer]: '+' works, '-' is not related, 'x' is on another card. */
static const char *const related[NUM_RELATED] = {
	"+++--+x", /* 03:00.0 */
	"++-++-x", /* 03:00.1 */
	"+-+++-x", /* b1:00.0 */
	"-++++-x", /* b1:00.1 */
	"-++++-x", /* b1:00.2, a VF of b1:00.1 */
	"+----+x", /* c1:00.0 */
	"xxxxxx+", /* ca:00.0 */
};

static int code_of(char relation)
{
	return relation == '+' ? 0 : relation == '-' ? -EPERM : -EXDEV;
}

static void expect_relations(struct fixture *f, uint32_t exporter, uint32_t access)
{
	struct sim_region region = region_of(exporter);
	struct sim_key key;

	region.access = access;
	memcpy(key.secret, secret, sizeof(secret));
	assert_int_equal(
		sim_card_export(f->card, attach(f, f->topology->functions[exporter].side), &region, secret, &key.id),
		0);
	for (uint32_t importer = 0; importer < NUM_RELATED; importer++) {
		uint32_t peer = attach(f, f->topology->functions[importer].side);
		struct sim_card_memory found;
		const struct sim_region *imported = NULL;

		assert_int_equal(sim_card_import(f->card, peer, &key, importer, &imported, &found),
				 code_of(related[exporter][importer]));
		assert_int_equal(imported->function, exporter); /* also after a refusal, for its log line */
	}
}

static void test_an_import_needs_a_relation_to_the_exporters_function(void **state)
{
	struct fixture f = { 0 };
	char error[PCIE_ERROR_SIZE];

	assert_int_equal(pcie_topology_parse("test", related_yaml, strlen(related_yaml), &f.topology, error), 0);
	assert_int_equal(sim_card_create(f.topology, &f.card), 0);
	for (uint32_t exporter = 0; exporter < NUM_RELATED; exporter++) {
		expect_relations(&f, exporter, SIM_ACCESS_READ);
		expect_relations(&f, exporter, SIM_ACCESS_SYNC);
	}
	sim_card_destroy(f.card);
	pcie_topology_destroy(f.topology);
}

static void test_a_revoked_key_tells_its_importers_and_is_gone(void **state)
{
	struct fixture *f = *state;
	struct sim_key key = export(f);
	char expected[64];

	snprintf(expected, sizeof(expected), "%u:%llx ", f->left, (unsigned long long)key.id);
	assert_int_equal(import(f, &key), 0);
	assert_int_equal(sim_card_revoke(f->card, f->host, key.id, note, f), 0);
	expect_told(f, expected);
	assert_true(f->told_memory == key.id);
	assert_int_equal(import(f, &key), -ESTALE);
	assert_int_equal(sim_card_revoke(f->card, f->host, key.id, note, f), -ESTALE);
}

static void test_exports_are_found_by_their_function(void **state)
{
	struct fixture *f = *state;
	struct sim_key key = export(f);
	uint32_t exporter;
	uint64_t found;

	assert_true(sim_card_find_export(f->card, LEFT_HOST, &exporter, &found));
	assert_int_equal(exporter, f->host);
	assert_true(found == key.id);
	assert_false(sim_card_find_export(f->card, LEFT_DPU, &exporter, &found));
	sim_card_revoke(f->card, f->host, key.id, note, f);
	assert_false(sim_card_find_export(f->card, LEFT_HOST, &exporter, &found));
}

static void test_only_the_exporter_revokes(void **state)
{
	struct fixture *f = *state;
	struct sim_key key = export(f);

	assert_int_equal(sim_card_revoke(f->card, f->left, key.id, note, f), -ESTALE);
	assert_int_equal(import(f, &key), 0);
	expect_told(f, "");
}

static void test_an_importer_of_several_times_is_notified_once(void **state)
{
	struct fixture *f = *state;
	struct sim_key key = export(f);
	char expected[64];

	snprintf(expected, sizeof(expected), "%u:%llx ", f->left, (unsigned long long)key.id);
	assert_int_equal(import(f, &key), 0);
	assert_int_equal(import(f, &key), 0);
	sim_card_unimport(f->card, f->left, key.id, note, f);
	sim_card_revoke(f->card, f->host, key.id, note, f);
	expect_told(f, expected);
}

static void test_an_importer_that_let_go_is_not_notified(void **state)
{
	struct fixture *f = *state;
	struct sim_key key = export(f);

	assert_int_equal(import(f, &key), 0);
	sim_card_unimport(f->card, f->left, key.id, note, f);
	sim_card_unimport(f->card, f->left, key.id, note, f); /* a further release has no effect */
	sim_card_unimport(f->card, f->right, key.id, note, f);
	sim_card_revoke(f->card, f->host, key.id, note, f);
	expect_told(f, "");
}

/* A new key in a used slot has another generation: the old descriptor does not match it. */
static void test_a_key_in_a_revoked_ones_place_is_another_key(void **state)
{
	struct fixture *f = *state;
	struct sim_key old = export(f), new;

	sim_card_revoke(f->card, f->host, old.id, note, f);
	new = export(f);
	assert_int_equal((uint32_t) new.id, (uint32_t)old.id);
	assert_int_not_equal(new.id, old.id);
	assert_int_equal(import(f, &old), -ESTALE);
	assert_int_equal(import(f, &new), 0);
}

static void test_a_leaving_exporter_takes_all_its_keys_along(void **state)
{
	struct fixture *f = *state;
	struct sim_key first = export(f), second = export(f);
	char expected[64];

	assert_int_equal(import(f, &first), 0);
	assert_int_equal(import(f, &second), 0);
	snprintf(expected, sizeof(expected), "%u:%llx %u:%llx ", f->left, (unsigned long long)first.id, f->left,
		 (unsigned long long)second.id);
	sim_card_detach(f->card, f->host, note, f);
	expect_told(f, expected);
	assert_int_equal(import(f, &first), -ESTALE);
}

static void test_a_leaving_importer_is_not_notified(void **state)
{
	struct fixture *f = *state;
	struct sim_key key = export(f);

	assert_int_equal(import(f, &key), 0);
	assert_int_equal(import(f, &key), 0);
	sim_card_detach(f->card, f->left, note, f);
	sim_card_revoke(f->card, f->host, key.id, note, f);
	expect_told(f, "");
}

static void test_the_exporter_is_known_to_importers_only(void **state)
{
	struct fixture *f = *state;
	struct sim_key key = export(f);
	struct sim_card_memory memory = { .exporter = 77 };

	assert_int_equal(sim_card_find_memory(f->card, f->left, key.id, &memory), -ESTALE);
	assert_int_equal(sim_card_find_memory(f->card, f->left, key.id + 1, &memory), -ESTALE);
	assert_int_equal(memory.exporter, 77);
	assert_int_equal(import(f, &key), 0);
	assert_int_equal(sim_card_find_memory(f->card, f->left, key.id, &memory), 0);
	assert_int_equal(memory.exporter, f->host);
	assert_true(memory.key == key.id);
	sim_card_revoke(f->card, f->host, key.id, note, f);
	expect_told(f, told_one(f, f->left, key.id)); /* its exporter ends it, and is not told of it */
}

static void list_peer(void *arg, uint32_t peer, const struct sim_peer_info *info, uint32_t exports, uint32_t imports)
{
	struct fixture *f = arg;
	size_t used = strlen(f->told);

	snprintf(f->told + used, sizeof(f->told) - used, "%s %u %u; ", info->side, exports, imports);
}

static void list_import(void *arg, uint32_t importer, uint32_t exporter, const struct sim_region *region,
			const char *path, const char *reason)
{
	struct fixture *f = arg;
	size_t used = strlen(f->told);

	snprintf(f->told + used, sizeof(f->told) - used, "%u<-%u %llu %s (%s); ", importer, exporter,
		 (unsigned long long)region->len_bytes, path, reason);
}

struct counted {
	uint32_t peer, exports, imports;
};

static void count_peer(void *arg, uint32_t peer, const struct sim_peer_info *info, uint32_t num_exports,
		       uint32_t num_imports)
{
	struct counted *counted = arg;

	if (peer == counted->peer) {
		counted->exports = num_exports;
		counted->imports = num_imports;
	}
}

static void expect_counts(struct fixture *f, uint32_t peer, uint32_t exports, uint32_t imports)
{
	struct counted counted = { .peer = peer };

	sim_card_each_peer(f->card, count_peer, &counted);
	assert_int_equal(counted.exports, exports);
	assert_int_equal(counted.imports, imports);
}

/* ---- aliases ---- */

enum { RIGHT = SIM_ACCESS_READ | SIM_ACCESS_WRITE };

/* The host exports memory with @access, the left DPU imports it, and makes an alias of it. */
static struct sim_key make_alias(struct fixture *f, uint32_t access, struct sim_key *ret_origin)
{
	struct sim_region region = region_of(LEFT_HOST);
	struct sim_key alias;

	region.access = access;
	memcpy(ret_origin->secret, secret, sizeof(secret));
	memcpy(alias.secret, other_secret, sizeof(secret));
	assert_int_equal(sim_card_export(f->card, f->host, &region, secret, &ret_origin->id), 0);
	assert_int_equal(import(f, ret_origin), 0);
	assert_int_equal(sim_card_export_alias(f->card, f->left, ret_origin->id, LEFT_DPU, other_secret, &alias.id), 0);
	return alias;
}

static int make_alias_of(struct fixture *f, uint32_t peer, uint64_t origin, uint32_t function)
{
	uint64_t alias = 4711;
	int rc = sim_card_export_alias(f->card, peer, origin, function, other_secret, &alias);

	if (rc < 0)
		assert_int_equal(alias, 4711);
	return rc;
}

/* The network reaches it from any card; its function is the maker's, its memory the host's. */
static void test_an_alias_leads_to_the_origins_memory(void **state)
{
	struct fixture *f = *state;
	struct sim_key origin, alias = make_alias(f, RIGHT, &origin);
	const struct sim_region *region;
	struct sim_card_memory memory;

	assert_int_equal(sim_card_import(f->card, f->right, &origin, RIGHT_DPU, &region, &memory), -EXDEV);
	assert_int_equal(sim_card_import(f->card, f->right, &alias, RIGHT_DPU, &region, &memory), 0);
	assert_int_equal(region->addr, 0x10000);
	assert_int_equal(region->cpu_addr, 0x10000);
	assert_int_equal(region->len_bytes, 4096);
	assert_int_equal(region->function, LEFT_DPU);
	assert_int_equal(memory.exporter, f->host);
	assert_true(memory.key == origin.id);
	memory = (struct sim_card_memory){ 0 };
	assert_int_equal(sim_card_find_memory(f->card, f->right, alias.id, &memory), 0);
	assert_int_equal(memory.exporter, f->host);
	assert_true(memory.key == origin.id);
	sim_card_each_import(f->card, list_import, f);
	expect_told(f, "1<-0 4096  (); 2<-0 4096  (); ");
}

static void test_an_alias_has_a_secret_of_its_own(void **state)
{
	struct fixture *f = *state;
	struct sim_key origin, alias = make_alias(f, RIGHT, &origin);

	memcpy(alias.secret, secret, sizeof(secret));
	assert_int_equal(import_by(f, f->right, &alias, RIGHT_DPU), -ESTALE);
}

static void test_an_alias_has_the_rights_of_the_origin(void **state)
{
	const uint32_t rights[] = { SIM_ACCESS_READ, SIM_ACCESS_WRITE, RIGHT };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
		struct sim_key origin, alias = make_alias(f, rights[i], &origin);
		const struct sim_region *region;
		struct sim_card_memory memory;

		assert_int_equal(sim_card_import(f->card, f->right, &alias, RIGHT_DPU, &region, &memory), 0);
		assert_int_equal(region->access, rights[i] | SIM_ACCESS_NET);
	}
}

static void test_only_an_importer_makes_an_alias(void **state)
{
	struct fixture *f = *state;
	struct sim_key key = export(f);

	assert_int_equal(make_alias_of(f, f->left, key.id, LEFT_DPU), -ESTALE);
	assert_int_equal(make_alias_of(f, f->left, key.id + 1, LEFT_DPU), -ESTALE);
	assert_int_equal(import(f, &key), 0);
	assert_int_equal(make_alias_of(f, f->host, key.id, LEFT_HOST), -ESTALE); /* its own: it exports that itself */
	assert_int_equal(make_alias_of(f, f->right, key.id, RIGHT_DPU), -ESTALE);
	sim_card_unimport(f->card, f->left, key.id, note, f);
	assert_int_equal(make_alias_of(f, f->left, key.id, LEFT_DPU), -ESTALE);
	assert_int_equal(import(f, &key), 0);
	sim_card_revoke(f->card, f->host, key.id, note, f);
	assert_int_equal(make_alias_of(f, f->left, key.id, LEFT_DPU), -ESTALE);
	sim_card_detach(f->card, f->left, note, f);
	assert_int_equal(make_alias_of(f, f->left, key.id, LEFT_DPU), -ESTALE);
}

/* The function has to be one through which the maker could import the origin. */
static void test_an_alias_goes_through_an_able_function_of_the_maker(void **state)
{
	struct fixture *f = *state;
	struct sim_key key = export(f);

	assert_int_equal(import(f, &key), 0);
	assert_int_equal(make_alias_of(f, f->left, key.id, LEFT_HOST), -EINVAL);
	assert_int_equal(make_alias_of(f, f->left, key.id, RIGHT_DPU), -EINVAL);
	assert_int_equal(make_alias_of(f, f->left, key.id, 99), -EINVAL);
	f->topology->functions[LEFT_DPU].caps.rdma = false;
	assert_int_equal(make_alias_of(f, f->left, key.id, LEFT_DPU), -ENOTSUP);
	f->topology->functions[LEFT_DPU].caps.rdma = true;
	f->topology->functions[LEFT_DPU].caps.mmap_from_export_pci = false;
	assert_int_equal(make_alias_of(f, f->left, key.id, LEFT_DPU), -ENOTSUP);
	f->topology->functions[LEFT_DPU].caps.mmap_from_export_pci = true;
	f->topology->functions[LEFT_HOST].card = f->topology->functions[RIGHT_HOST].card;
	assert_int_equal(make_alias_of(f, f->left, key.id, LEFT_DPU), -EXDEV);
	f->topology->functions[LEFT_HOST].card = f->topology->functions[LEFT_DPU].card;
	assert_int_equal(make_alias_of(f, f->left, key.id, LEFT_DPU), 0);
}

/* The slots of ended aliases are not looked at again. */
static void test_an_ended_alias_stays_ended(void **state)
{
	struct fixture *f = *state;
	struct sim_key origin, alias = make_alias(f, RIGHT, &origin), second;
	uint32_t maker = attach(f, "left/dpu");

	memcpy(second.secret, other_secret, sizeof(second.secret));
	assert_int_equal(import_by(f, maker, &origin, LEFT_DPU), 0);
	assert_int_equal(sim_card_export_alias(f->card, maker, origin.id, LEFT_DPU, other_secret, &second.id), 0);
	assert_int_equal(sim_card_revoke(f->card, f->left, alias.id, note, f), 0);
	alias.id += 1ULL << 32; /* the id that the slot's next key will have */
	assert_int_equal(import_by(f, f->right, &alias, RIGHT_DPU), -ESTALE);
	sim_card_detach(f->card, f->left, note, f);
	expect_told(f, "");
	assert_int_equal(import_by(f, f->right, &second, RIGHT_DPU), 0);
	sim_card_revoke(f->card, f->host, origin.id, note, f);
	assert_int_equal(import_by(f, f->right, &second, RIGHT_DPU), -ESTALE);
}

/* Memory of the network and its aliases, of channels, values of sync events, inboxes. */
static void test_other_memory_has_no_alias(void **state)
{
	const uint32_t others[] = { SIM_ACCESS_NET, SIM_ACCESS_NET | SIM_ACCESS_ATOMIC, SIM_ACCESS_CHANNEL,
				    SIM_ACCESS_SYNC, SIM_ACCESS_NET | SIM_ACCESS_INBOX };
	struct fixture *f = *state;
	struct sim_key origin, alias = make_alias(f, RIGHT, &origin), key;

	memcpy(key.secret, secret, sizeof(secret));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct sim_region region = region_of(LEFT_HOST);

		region.access = others[i] | (others[i] == SIM_ACCESS_SYNC ? 0 : (uint32_t)RIGHT);
		assert_int_equal(sim_card_export(f->card, f->host, &region, secret, &key.id), 0);
		assert_int_equal(import(f, &key), 0);
		assert_int_equal(make_alias_of(f, f->left, key.id, LEFT_DPU), -EACCES);
	}
	assert_int_equal(import(f, &alias), 0);
	assert_int_equal(make_alias_of(f, f->left, alias.id, LEFT_DPU), -EACCES);
}

static void test_an_alias_ends_with_its_origin(void **state)
{
	struct fixture *f = *state;
	struct sim_key origin, alias = make_alias(f, RIGHT, &origin);
	struct sim_card_memory memory;
	char expected[64];

	assert_int_equal(import_by(f, f->right, &alias, RIGHT_DPU), 0);
	assert_int_equal(sim_card_find_memory(f->card, f->right, alias.id, &memory), 0);
	snprintf(expected, sizeof(expected), "%u:%llx %u:%llx ", f->right, (unsigned long long)alias.id, f->left,
		 (unsigned long long)origin.id);
	assert_int_equal(sim_card_revoke(f->card, f->host, origin.id, note, f), 0);
	expect_told(f, expected);
	assert_int_equal(import_by(f, f->right, &alias, RIGHT_DPU), -ESTALE);
	assert_int_equal(sim_card_revoke(f->card, f->left, alias.id, note, f), -ESTALE);
	expect_counts(f, f->left, 0, 0);
	expect_counts(f, f->right, 0, 0);
}

static void test_an_alias_ends_with_its_makers_import(void **state)
{
	struct fixture *f = *state;
	struct sim_key origin, alias = make_alias(f, RIGHT, &origin), kept, of_kept = make_alias(f, RIGHT, &kept);

	assert_int_equal(import(f, &origin), 0); /* once more */
	assert_int_equal(import_by(f, f->right, &alias, RIGHT_DPU), 0);
	assert_int_equal(import_by(f, f->right, &of_kept, RIGHT_DPU), 0);
	sim_card_unimport(f->card, f->left, origin.id, note, f);
	expect_told(f, "");
	sim_card_unimport(f->card, f->left, origin.id, note, f);
	expect_told(f, told_one(f, f->right, alias.id));
	assert_true(f->told_memory == origin.id);
	assert_int_equal(import_by(f, f->right, &alias, RIGHT_DPU), -ESTALE);
	assert_int_equal(import(f, &origin), 0); /* the origin lives on, and so does the alias of another key */
	assert_int_equal(import_by(f, f->right, &of_kept, RIGHT_DPU), 0);
	expect_counts(f, f->left, 1, 2);
}

/* Two processes of the DPU have imported one memory. */
static void test_the_alias_of_another_maker_lives_on(void **state)
{
	struct fixture *f = *state;
	struct sim_key origin, alias = make_alias(f, RIGHT, &origin), second;
	uint32_t maker = attach(f, "left/dpu");

	memcpy(second.secret, other_secret, sizeof(second.secret));
	assert_int_equal(import_by(f, maker, &origin, LEFT_DPU), 0);
	assert_int_equal(sim_card_export_alias(f->card, maker, origin.id, LEFT_DPU, other_secret, &second.id), 0);
	assert_int_equal(import_by(f, f->right, &alias, RIGHT_DPU), 0);
	assert_int_equal(import_by(f, f->right, &second, RIGHT_DPU), 0);
	sim_card_detach(f->card, f->left, note, f);
	expect_told(f, told_one(f, f->right, alias.id));
	assert_int_equal(import_by(f, f->right, &alias, RIGHT_DPU), -ESTALE);
	assert_int_equal(import_by(f, f->right, &second, RIGHT_DPU), 0);
	assert_int_equal(sim_card_revoke(f->card, maker, second.id, note, f), 0);
	expect_told(f, told_one(f, f->right, second.id));
	sim_card_revoke(f->card, f->host, origin.id, note, f);
	expect_told(f, told_one(f, maker, origin.id));
}

static void test_only_its_maker_revokes_an_alias(void **state)
{
	struct fixture *f = *state;
	struct sim_key origin, alias = make_alias(f, RIGHT, &origin);

	assert_int_equal(sim_card_revoke(f->card, f->host, alias.id, note, f), -ESTALE);
	assert_int_equal(sim_card_revoke(f->card, f->right, alias.id, note, f), -ESTALE);
	assert_int_equal(import_by(f, f->right, &alias, RIGHT_DPU), 0);
	assert_int_equal(sim_card_revoke(f->card, f->left, alias.id, note, f), 0);
	expect_told(f, told_one(f, f->right, alias.id));
	expect_counts(f, f->left, 0, 1);
}

/* It serves the memory to the importers of the alias, until it hears of its end. */
static void test_an_exporter_that_serves_an_alias_hears_of_its_end(void **state)
{
	struct fixture *f = *state;
	struct sim_key origin, alias = make_alias(f, RIGHT, &origin);
	struct sim_card_memory memory;
	char expected[64];

	assert_int_equal(import_by(f, f->right, &alias, RIGHT_DPU), 0);
	assert_int_equal(sim_card_find_memory(f->card, f->right, alias.id, &memory), 0);
	sim_card_unimport(f->card, f->right, alias.id, note, f);
	snprintf(expected, sizeof(expected), "%u:%llx ", f->host, (unsigned long long)alias.id);
	assert_int_equal(sim_card_revoke(f->card, f->left, alias.id, note, f), 0);
	expect_told(f, expected);
	assert_true(f->told_memory == origin.id);
}

/* An importer of the alias hears of its end once, also if it has exported the memory itself; nobody hears after it left. */
static void test_an_exporter_that_imports_an_alias_is_told_once(void **state)
{
	struct fixture *f = *state;
	struct sim_key origin, alias = make_alias(f, RIGHT, &origin);
	struct sim_card_memory memory;

	assert_int_equal(import_by(f, f->host, &alias, RIGHT_HOST), 0);
	assert_int_equal(sim_card_find_memory(f->card, f->host, alias.id, &memory), 0);
	assert_int_equal(sim_card_revoke(f->card, f->left, alias.id, note, f), 0);
	expect_told(f, told_one(f, f->host, alias.id));
	alias = make_alias(f, RIGHT, &origin);
	assert_int_equal(import_by(f, f->host, &alias, RIGHT_HOST), 0);
	assert_int_equal(sim_card_find_memory(f->card, f->host, alias.id, &memory), 0);
	f->told[0] = '\0';
	sim_card_detach(f->card, f->host, note, f);
	assert_null(strstr(f->told, "0:"));
}

/* A function's exports end with it: those of the maker's alone here. */
static void test_an_alias_is_found_by_its_makers_function(void **state)
{
	struct fixture *f = *state;
	struct sim_key origin, alias = make_alias(f, RIGHT, &origin);
	uint32_t exporter;
	uint64_t found;

	assert_true(sim_card_find_export(f->card, LEFT_DPU, &exporter, &found));
	assert_int_equal(exporter, f->left);
	assert_true(found == alias.id);
	assert_true(sim_card_find_export(f->card, LEFT_HOST, &exporter, &found));
	assert_true(found == origin.id);
}

/* The keys grow from 16 to 128 meanwhile; every second origin ends. */
static void test_many_aliases_end_with_their_origins(void **state)
{
	enum { COUNT = 50 };
	struct sim_key origins[COUNT], aliases[COUNT];
	struct fixture *f = *state;

	for (int i = 0; i < COUNT; i++)
		aliases[i] = make_alias(f, RIGHT, &origins[i]);
	for (int i = 0; i < COUNT; i += 2)
		assert_int_equal(sim_card_revoke(f->card, f->host, origins[i].id, note, f), 0);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(import_by(f, f->right, &aliases[i], RIGHT_DPU), i % 2 ? 0 : -ESTALE);
	expect_counts(f, f->left, COUNT / 2, COUNT / 2);
}

static void test_reports_list_what_lives(void **state)
{
	struct fixture *f = *state;
	struct sim_key key = export(f);

	export(f);
	assert_int_equal(import(f, &key), 0);
	sim_card_detach(f->card, f->right, note, f);
	sim_card_each_peer(f->card, list_peer, f);
	expect_told(f, "host 2 0; left/dpu 0 1; ");
	sim_card_set_path(f->card, f->left, key.id, "a longer name", "because");
	sim_card_set_path(f->card, f->left, key.id, "cma", "why not");
	sim_card_set_path(f->card, f->host, key.id, "shm", "it is not an importer");
	sim_card_each_import(f->card, list_import, f);
	expect_told(f, "1<-0 4096 cma (why not); ");
}

/* The arrays grow from 16 to 128 meanwhile; no pointer into an old array may remain. */
static void test_many_keys_keep_their_importers(void **state)
{
	enum { COUNT = 100 };
	struct fixture *f = *state;
	struct sim_key keys[COUNT];

	for (int i = 0; i < COUNT; i++) {
		keys[i] = export(f);
		assert_int_equal(import(f, &keys[i]), 0);
	}
	for (int i = 0; i < COUNT; i += 2)
		assert_int_equal(sim_card_revoke(f->card, f->host, keys[i].id, note, f), 0);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(import(f, &keys[i]), i % 2 ? 0 : -ESTALE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* One export more needs another exporter. */
static void test_one_peer_has_limited_exports_and_imports(void **state)
{
	struct fixture *f = *state;
	struct sim_region region = region_of(LEFT_HOST);
	uint32_t host = f->host, second = attach(f, "host");
	struct sim_key first = export(f), key = first;

	assert_int_equal(import(f, &first), 0);
	for (uint32_t i = 1; i < SIM_MAX_EXPORTS; i++) {
		key = export(f);
		assert_int_equal(import(f, &key), 0);
	}
	assert_int_equal(sim_card_export(f->card, f->host, &region, secret, &key.id), -EDQUOT);
	expect_counts(f, f->host, SIM_MAX_EXPORTS, 0);
	expect_counts(f, f->left, 0, SIM_MAX_IMPORTS);
	assert_int_equal(sim_card_export(f->card, second, &region, secret, &key.id), 0);
	assert_int_equal(import(f, &key), -EDQUOT);
	assert_int_equal(import(f, &first), 0); /* again: no import more */
	sim_card_unimport(f->card, f->left, first.id, note, f);
	sim_card_unimport(f->card, f->left, first.id, note, f);
	f->host = second;
	assert_int_equal(import(f, &key), 0);
	sim_card_detach(f->card, host, note, f);
	expect_counts(f, f->left, 0, 1);
	assert_int_equal(sim_card_revoke(f->card, second, key.id, note, f), 0);
	expect_counts(f, second, 0, 0);
	expect_counts(f, f->left, 0, 0);
	f->told[0] = '\0';
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_side_that_the_topology_lacks_is_refused),
		TEST(test_a_peer_is_what_it_said_until_it_leaves),
		TEST(test_a_place_that_became_free_is_used_again),
		TEST(test_an_exported_key_can_be_imported),
		TEST(test_a_wrong_secret_is_as_good_as_no_key),
		TEST(test_regions_that_make_no_sense_are_refused),
		TEST(test_a_peer_that_left_can_do_nothing),
		TEST(test_an_import_goes_through_an_able_function_of_ones_own),
		TEST(test_sync_events_go_both_ways),
		TEST(test_memory_of_another_card_is_out_of_reach),
		cmocka_unit_test(test_an_import_needs_a_relation_to_the_exporters_function),
		TEST(test_a_revoked_key_tells_its_importers_and_is_gone),
		TEST(test_exports_are_found_by_their_function),
		TEST(test_only_the_exporter_revokes),
		TEST(test_an_importer_of_several_times_is_notified_once),
		TEST(test_an_importer_that_let_go_is_not_notified),
		TEST(test_a_key_in_a_revoked_ones_place_is_another_key),
		TEST(test_a_leaving_exporter_takes_all_its_keys_along),
		TEST(test_a_leaving_importer_is_not_notified),
		TEST(test_the_exporter_is_known_to_importers_only),
		TEST(test_an_alias_leads_to_the_origins_memory),
		TEST(test_an_alias_has_a_secret_of_its_own),
		TEST(test_an_alias_has_the_rights_of_the_origin),
		TEST(test_only_an_importer_makes_an_alias),
		TEST(test_an_alias_goes_through_an_able_function_of_the_maker),
		TEST(test_an_ended_alias_stays_ended),
		TEST(test_other_memory_has_no_alias),
		TEST(test_an_alias_ends_with_its_origin),
		TEST(test_an_alias_ends_with_its_makers_import),
		TEST(test_the_alias_of_another_maker_lives_on),
		TEST(test_only_its_maker_revokes_an_alias),
		TEST(test_an_exporter_that_serves_an_alias_hears_of_its_end),
		TEST(test_an_exporter_that_imports_an_alias_is_told_once),
		TEST(test_an_alias_is_found_by_its_makers_function),
		TEST(test_many_aliases_end_with_their_origins),
		TEST(test_reports_list_what_lives),
		TEST(test_many_keys_keep_their_importers),
		TEST(test_one_peer_has_limited_exports_and_imports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
