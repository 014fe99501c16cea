/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and writing another process's memory through libfabric, over every provider of this machine.
 * test_ofi_death.c covers processes that die. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ofi_exporter.h"

#define TIMEOUT_MS 5000
#define MIB        (1u << 20)

static const atomic_bool never;

static struct exporter exporter;

static int start(void **state)
{
	return exporter_start(&exporter, *state);
}

static int stop(void **state)
{
	(void)state;
	exporter_stop(&exporter);
	return count_shm_files(exporter.shm_prefix); /* 0: no file is left */
}

static bool is_shm(void **state)
{
	return strcmp(*state, "shm") == 0;
}

static struct sim_ofi_link *connect_to(const struct sim_ofi_desc *desc, size_t len)
{
	struct sim_ofi_link *link = NULL;

	assert_int_equal(sim_ofi_link_create(desc, len, TIMEOUT_MS, NULL, NULL, &link), 0);
	return link;
}

static int try_to_connect(const struct sim_ofi_desc *desc, size_t len)
{
	struct sim_ofi_link *link = NULL;
	int rc = sim_ofi_link_create(desc, len, TIMEOUT_MS, NULL, NULL, &link);

	sim_ofi_link_destroy(link);
	return rc;
}

static void fill_pattern(uint8_t *buf, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = (uint8_t)(seed + i + (i >> 8));
}

/* Sizes around the providers' limits: inline, buffered, segmented, more than one transfer. */
static void test_bytes_written_are_read_back(void **state)
{
	static const size_t sizes[] = { 1, 64, 129, 4096, 4097, 65537, MIB + 3, 9 * MIB + 1 };
	uint8_t *out = malloc(10 * MIB), *in = malloc(10 * MIB);
	struct sim_ofi_desc desc;
	int mem = exporter_expose(&exporter, 10 * MIB, true, 0x5a, &desc);
	struct sim_ofi_link *link = connect_to(&desc, 10 * MIB);

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t len = sizes[i], at = 1000 + i;

		fill_pattern(out, len, (unsigned int)i);
		assert_int_equal(sim_ofi_link_write(link, out, at, len, &never), 0);
		/* A completed write is visible at the target. */
		assert_int_equal(exporter_peek(&exporter, mem, at + len - 1), out[len - 1]);
		assert_int_equal(sim_ofi_link_read(link, in, at, len, &never), 0);
		assert_memory_equal(in, out, len);
	}
	assert_int_equal(sim_ofi_link_read(link, in, 0, 1, &never), 0);
	assert_int_equal(in[0], 0x5a);
	sim_ofi_link_destroy(link);
	free(out);
	free(in);
}

static void test_access_of_no_bytes_succeeds(void **state)
{
	struct sim_ofi_desc desc;
	struct sim_ofi_link *link;

	(void)state;
	exporter_expose(&exporter, 4096, true, 1, &desc);
	link = connect_to(&desc, 4096);
	assert_int_equal(sim_ofi_link_read(link, NULL, 4096, 0, &never), 0);
	sim_ofi_link_destroy(link);
}

static void test_access_past_the_end_fails_with_efault(void **state)
{
	struct sim_ofi_desc desc;
	struct sim_ofi_link *link;
	char buf[8];

	(void)state;
	exporter_expose(&exporter, 4096, true, 1, &desc);
	link = connect_to(&desc, 4096);
	assert_int_equal(sim_ofi_link_read(link, buf, 4089, 8, &never), -EFAULT);
	assert_int_equal(sim_ofi_link_write(link, buf, 4097, 1, &never), -EFAULT);
	assert_int_equal(sim_ofi_link_read(link, buf, UINT64_MAX - 3, 8, &never), -EFAULT);
	assert_int_equal(sim_ofi_link_read(link, buf, 4088, 8, &never), 0);
	sim_ofi_link_destroy(link);
}

/* An importer with a wrong, larger length is refused by the target's own check. */
static void test_target_enforces_the_length(void **state)
{
	struct sim_ofi_link *link = NULL;
	struct sim_ofi_desc desc;
	uint8_t buf[64] = { 0 };
	int rc;

	exporter_expose(&exporter, 4096, true, 1, &desc);
	rc = sim_ofi_link_create(&desc, 8192, TIMEOUT_MS, NULL, NULL, &link);
	if (is_shm(state)) {
		assert_int_equal(rc, -EACCES);
		return;
	}
	assert_int_equal(rc, 0);
	assert_int_equal(sim_ofi_link_read(link, buf, 4096 - 32, 64, &never), -EIO);
	assert_int_equal(buf[0], 0);
	assert_int_equal(sim_ofi_link_read(link, buf, 0, 64, &never), 0); /* the link recovers */
	sim_ofi_link_destroy(link);
}

static void test_write_to_read_only_memory_fails_with_eacces(void **state)
{
	struct sim_ofi_desc desc;
	int mem = exporter_expose(&exporter, 4096, false, 1, &desc);
	struct sim_ofi_link *link = connect_to(&desc, 4096);
	uint8_t byte = 2;

	(void)state;
	assert_int_equal(sim_ofi_link_write(link, &byte, 0, 1, &never), -EACCES);
	assert_int_equal(exporter_peek(&exporter, mem, 0), 1);
	assert_int_equal(sim_ofi_link_read(link, &byte, 0, 1, &never), 0);
	assert_int_equal(byte, 1);
	sim_ofi_link_destroy(link);
}

/* The same with a descriptor that claims the permission. */
static void test_target_enforces_read_only(void **state)
{
	struct sim_ofi_link *link = NULL;
	struct sim_ofi_desc desc;
	int mem = exporter_expose(&exporter, 4096, false, 1, &desc), rc;
	uint8_t byte = 2;

	desc.writable = 1;
	rc = sim_ofi_link_create(&desc, 4096, TIMEOUT_MS, NULL, NULL, &link);
	if (is_shm(state)) {
		assert_int_equal(rc, -EACCES);
	} else {
		assert_int_equal(rc, 0);
		assert_int_equal(sim_ofi_link_write(link, &byte, 0, 1, &never), -EIO);
	}
	assert_int_equal(exporter_peek(&exporter, mem, 0), 1);
	sim_ofi_link_destroy(link);
}

static void test_hidden_memory_fails_with_eio_and_others_go_on(void **state)
{
	struct sim_ofi_desc hidden_desc, other_desc;
	int hidden = exporter_expose(&exporter, 4096, true, 1, &hidden_desc);
	struct sim_ofi_link *link, *other;
	uint8_t byte = 9;

	(void)state;
	exporter_expose(&exporter, 4096, true, 2, &other_desc);
	link = connect_to(&hidden_desc, 4096);
	other = connect_to(&other_desc, 4096);
	exporter_hide(&exporter, hidden);
	assert_int_equal(sim_ofi_link_read(link, &byte, 0, 1, NULL), -EIO);
	assert_int_equal(sim_ofi_link_write(link, &byte, 0, 1, NULL), -EIO);
	assert_int_equal(sim_ofi_link_read(other, &byte, 0, 1, &never), 0);
	assert_int_equal(byte, 2);
	assert_int_equal(try_to_connect(&hidden_desc, 4096), -EHOSTUNREACH);
	sim_ofi_link_destroy(link);
	sim_ofi_link_destroy(other);
}

static void test_wrong_key_is_refused(void **state)
{
	struct sim_ofi_desc desc;

	(void)state;
	exporter_expose(&exporter, 4096, true, 1, &desc);
	desc.mr_key ^= 1;
	assert_int_equal(try_to_connect(&desc, 4096), -EHOSTUNREACH);
}

/* The first address leads to a process that has no such key, the second is dead, the third is right. */
static void test_addresses_that_lead_elsewhere_are_skipped(void **state)
{
	struct sim_ofi_desc desc, elsewhere, dead;
	struct exporter other;
	struct sim_ofi_link *link;
	uint8_t byte = 0;

	if (is_shm(state))
		skip(); /* one address only */
	assert_int_equal(exporter_start(&other, *state), 0);
	exporter_expose(&other, 4096, true, 7, &dead);
	exporter_stop(&other);
	assert_int_equal(exporter_start(&other, *state), 0);
	exporter_expose(&exporter, 4096, true, 1, &desc);
	exporter_expose(&other, 4096, true, 7, &elsewhere);
	for (int i = 2; i >= 0; i--) {
		const struct sim_ofi_desc *from = i == 2 ? &desc : i == 1 ? &dead : &elsewhere;

		desc.addr_len[i] = from->addr_len[0];
		memcpy(desc.addr[i], from->addr[0], SIM_OFI_ADDR_SIZE);
	}
	desc.num_addrs = 3;
	link = connect_to(&desc, 4096);
	assert_int_equal(sim_ofi_link_read(link, &byte, 0, 1, &never), 0);
	assert_int_equal(byte, 1);
	sim_ofi_link_destroy(link);
	exporter_stop(&other);
}

/* Each offered address works, not only the first (which is loopback). */
static void test_each_address_leads_to_the_exporter(void **state)
{
	struct sim_ofi_desc desc;

	(void)state;
	exporter_expose(&exporter, 4096, true, 1, &desc);
	for (uint32_t i = 0; i < desc.num_addrs; i++) {
		struct sim_ofi_desc one = desc;

		one.num_addrs = 1;
		one.addr_len[0] = desc.addr_len[i];
		memcpy(one.addr[0], desc.addr[i], SIM_OFI_ADDR_SIZE);
		assert_int_equal(try_to_connect(&one, 4096), 0);
	}
}

static void expect_eproto(struct sim_ofi_desc desc)
{
	assert_int_equal(try_to_connect(&desc, 4096), -EPROTO);
}

#define WITH(change)                             \
	({                                       \
		struct sim_ofi_desc copy = desc; \
		copy.change;                     \
		copy;                            \
	})

static void test_desc_that_makes_no_sense_fails_with_eproto(void **state)
{
	struct sim_ofi_desc desc, unterminated;

	exporter_expose(&exporter, 4096, true, 1, &desc);
	unterminated = desc;
	memset(unterminated.provider, 'x', sizeof(unterminated.provider));
	expect_eproto(unterminated);
	expect_eproto(WITH(provider[0] = '\0'));
	expect_eproto(WITH(provider[1] = '\n'));
	expect_eproto(WITH(writable = 2));
	expect_eproto(WITH(num_addrs = 0));
	expect_eproto(WITH(num_addrs = SIM_OFI_MAX_ADDRS + 1));
	expect_eproto(WITH(addr_len[0] = 0));
	expect_eproto(WITH(addr_len[0] = SIM_OFI_ADDR_SIZE + 1));
	expect_eproto(WITH(addr_len[0] = UINT32_MAX));
	expect_eproto(WITH(addr_len[0] -= 1));
	expect_eproto(WITH(addr[0][0] = 0xee)); /* no such family; not one of our names */
	if (is_shm(state))
		expect_eproto(WITH(addr[0][7] = '/'));
	assert_int_equal(try_to_connect(&desc, 0), -EINVAL);
}

static void test_unknown_provider_fails_with_enosys(void **state)
{
	struct sim_ofi_target *target = NULL;
	struct sim_ofi_desc desc;

	(void)state;
	assert_int_equal(sim_ofi_target_create("nonesuch", &target), -ENOSYS);
	exporter_expose(&exporter, 4096, true, 1, &desc);
	strcpy(desc.provider, "nonesuch");
	assert_int_equal(try_to_connect(&desc, 4096), -ENOSYS);
}

static void test_own_target_over_shm_is_refused(void **state)
{
	struct sim_ofi_target *target = NULL;
	struct sim_ofi_mem *mem = NULL;
	struct sim_ofi_desc desc;
	char bytes[16];

	if (!is_shm(state))
		skip();
	assert_int_equal(sim_ofi_target_create(*state, &target), 0);
	assert_int_equal(sim_ofi_target_register(target, bytes, sizeof(bytes), true, &mem, &desc), 0);
	assert_int_equal(try_to_connect(&desc, sizeof(bytes)), -EINVAL);
	sim_ofi_target_destroy(target);
}

/* Links share connections: a thousand links take no more descriptors than one. */
static void test_thousands_of_memories_share_one_connection(void **state)
{
	enum { NUM = 2000, LEN = 4096 };
	struct sim_ofi_link **links = calloc(NUM, sizeof(*links));
	struct sim_ofi_desc desc;
	int fds_with_one = 0;

	(void)state;
	for (int i = 0; i < NUM; i++) {
		exporter_expose(&exporter, LEN, i % 2, (uint8_t)i, &desc);
		links[i] = connect_to(&desc, LEN);
		if (i == 0)
			fds_with_one = exporter_num_fds(&exporter);
	}
	assert_int_equal(exporter_num_fds(&exporter), fds_with_one);
	for (int i = NUM - 1; i >= 0; i--) {
		uint8_t byte = (uint8_t)~i;

		assert_int_equal(sim_ofi_link_read(links[i], &byte, LEN - 1, 1, &never), 0);
		assert_int_equal(byte, (uint8_t)i);
		sim_ofi_link_destroy(links[i]);
	}
	free(links);
}

struct user {
	struct sim_ofi_link *link;
	uint8_t id;
	int rc;
};

/* Write one's own part of the memory, read it back; -EBADMSG when it is not what was written. */
static int use_own_part(struct sim_ofi_link *link, uint8_t id, int rounds)
{
	uint8_t out[2000], in[2000];

	for (int round = 0; round < rounds; round++) {
		int rc;

		fill_pattern(out, sizeof(out), id + (unsigned int)round);
		rc = sim_ofi_link_write(link, out, (uint64_t)id * sizeof(out), sizeof(out), &never);
		if (rc == 0)
			rc = sim_ofi_link_read(link, in, (uint64_t)id * sizeof(in), sizeof(in), &never);
		if (rc < 0)
			return rc;
		if (memcmp(in, out, sizeof(in)) != 0)
			return -EBADMSG;
	}
	return 0;
}

static void *user_thread(void *arg)
{
	struct user *user = arg;

	user->rc = use_own_part(user->link, user->id, 100);
	return NULL;
}

static void test_threads_use_two_links_at_once(void **state)
{
	enum { NUM = 4 };
	struct user users[NUM];
	pthread_t threads[NUM];
	struct sim_ofi_desc desc;
	struct sim_ofi_link *links[2];

	(void)state;
	exporter_expose(&exporter, MIB, true, 0, &desc);
	links[0] = connect_to(&desc, MIB);
	links[1] = connect_to(&desc, MIB);
	for (uint8_t i = 0; i < NUM; i++) {
		users[i] = (struct user){ .link = links[i % 2], .id = i };
		assert_int_equal(pthread_create(&threads[i], NULL, user_thread, &users[i]), 0);
	}
	for (int i = 0; i < NUM; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(users[i].rc, 0);
	}
	sim_ofi_link_destroy(links[0]);
	sim_ofi_link_destroy(links[1]);
}

static int user_process(const struct sim_ofi_desc *desc, uint8_t id)
{
	struct sim_ofi_link *link;
	int rc = sim_ofi_link_create(desc, MIB, 60 * 1000, NULL, NULL, &link);

	if (rc < 0)
		return -rc;
	rc = use_own_part(link, id, 10);
	sim_ofi_link_destroy(link);
	return -rc;
}

static void test_64_processes_use_one_memory_at_once(void **state)
{
	enum { NUM = 64 };
	struct sim_ofi_desc desc;
	pid_t pids[NUM];

	(void)state;
	exporter_expose(&exporter, MIB, true, 0, &desc);
	for (uint8_t i = 0; i < NUM; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0)
			_exit(user_process(&desc, i));
	}
	for (int i = 0; i < NUM; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
}

/* More processes, one after the other, than shm has room for at once. */
static void test_importers_come_and_go(void **state)
{
	struct sim_ofi_desc desc;
	int num_fds;

	exporter_expose(&exporter, 4096, true, 3, &desc);
	assert_int_equal(try_to_connect(&desc, 4096), 0);
	num_fds = count_own_fds();
	for (int i = 0; i < (is_shm(state) ? 300 : 50); i++)
		assert_int_equal(try_to_connect(&desc, 4096), 0);
	assert_int_equal(count_own_fds(), num_fds);
}

/* Each test process loads libfabric once, in main(), which looks: cmocka has handlers of its own in here. */
static bool handlers_kept;

static void test_signal_handlers_and_environment_stay_the_applications(void **state)
{
	(void)state;
	assert_true(handlers_kept);
	assert_string_equal(getenv("FI_PROVIDER"), "nonesuch");
}

#define TEST(name, provider)                                                                     \
	{                                                                                        \
#name " over " provider, test_##name, start, stop, (void *)(uintptr_t)(provider) \
	}

#define TESTS(provider)                                                                                             \
	{                                                                                                           \
		TEST(bytes_written_are_read_back, provider), TEST(access_of_no_bytes_succeeds, provider),           \
			TEST(access_past_the_end_fails_with_efault, provider),                                      \
			TEST(target_enforces_the_length, provider),                                                 \
			TEST(write_to_read_only_memory_fails_with_eacces, provider),                                \
			TEST(target_enforces_read_only, provider),                                                  \
			TEST(hidden_memory_fails_with_eio_and_others_go_on, provider),                              \
			TEST(wrong_key_is_refused, provider),                                                       \
			TEST(addresses_that_lead_elsewhere_are_skipped, provider),                                  \
			TEST(each_address_leads_to_the_exporter, provider),                                         \
			TEST(desc_that_makes_no_sense_fails_with_eproto, provider),                                 \
			TEST(unknown_provider_fails_with_enosys, provider),                                         \
			TEST(own_target_over_shm_is_refused, provider),                                             \
			TEST(thousands_of_memories_share_one_connection, provider),                                 \
			TEST(threads_use_two_links_at_once, provider),                                              \
			TEST(64_processes_use_one_memory_at_once, provider), TEST(importers_come_and_go, provider), \
			TEST(signal_handlers_and_environment_stay_the_applications, provider),                      \
	}

static void get_handlers(void (*handlers[SIGSYS + 1])(int))
{
	struct sigaction action = { .sa_handler = NULL };

	for (int sig = 1; sig <= SIGSYS; sig++) {
		sigaction(sig, NULL, &action);
		handlers[sig] = action.sa_handler;
	}
}

/* Loads libfabric, here and for all the children. */
static bool have(const char *provider)
{
	void (*before[SIGSYS + 1])(int) = { NULL }, (*after[SIGSYS + 1])(int) = { NULL };
	struct sim_ofi_target *target = NULL;
	int rc;

	get_handlers(before);
	rc = sim_ofi_target_create(provider, &target);
	sim_ofi_target_destroy(target);
	get_handlers(after);
	handlers_kept = memcmp(before, after, sizeof(before)) == 0;
	if (rc < 0)
		printf("SKIPPED: libfabric has no %s here (%s)\n", provider, strerror(-rc));
	return rc == 0;
}

int main(void)
{
	const struct CMUnitTest shm[] = TESTS("shm");
	const struct CMUnitTest tcp[] = TESTS("tcp");
	char prefix[SIM_OFI_SHM_PREFIX_SIZE];
	int failed = 0;

	setenv("FI_PROVIDER", "nonesuch", 1); /* of a user, for another program */
	if (have("shm"))
		failed += cmocka_run_group_tests_name("shm", shm, NULL, NULL);
	if (have("tcp"))
		failed += cmocka_run_group_tests_name("tcp", tcp, NULL, NULL);
	sim_ofi_shm_prefix(prefix);
	if (count_shm_files(prefix) != 0) {
		printf("FAILED: files of this process are left in /dev/shm\n");
		failed++;
	}
	return failed;
}
