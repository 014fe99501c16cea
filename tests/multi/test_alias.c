/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that a second process exports again, and a third one imports: it reaches the first one's memory, by each path, until
 * one of the first two ends it. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "cmocka_test.h"
#include "actor.h"

static const char *const paths[] = { NULL, "mapped", "procmem", "cma", "shm", "tcp" };

#define NUM_PATHS (sizeof(paths) / sizeof(paths[0]))

/* The host's memory, the DPU that exports it again, and the server that imports that. */
struct trio {
	struct actor host, dpu, server;
	struct actor_key key, alias;
};

static enum actor_memory memory_for(const char *path)
{
	return path && strcmp(path, "mapped") == 0 ? ACTOR_MEMFD : ACTOR_ANONYMOUS;
}

static struct trio open_trio(const char *path, enum actor_memory memory)
{
	struct trio trio;

	assert_int_equal(actor_attach(&trio.host, test_session.dir, "host", NULL), 0);
	assert_int_equal(actor_attach(&trio.dpu, test_session.dir, "dpu", path), 0);
	assert_int_equal(actor_attach(&trio.server, test_session.dir, "host", path), 0);
	assert_int_equal(actor_export(&trio.host, memory, &trio.key), 0);
	assert_int_equal(actor_import(&trio.dpu, &trio.key), 0);
	assert_int_equal(actor_export_imported(&trio.dpu, &trio.key, &trio.alias), 0);
	assert_int_equal(actor_import(&trio.server, &trio.alias), 0);
	return trio;
}

static void close_trio(struct trio *trio)
{
	actor_detach(&trio->server);
	actor_detach(&trio->dpu);
	actor_detach(&trio->host);
}

/* Let the server read until it fails. Returns when it has read once. */
static void begin_reading(struct trio *trio)
{
	struct actor_request request = { .op = ACTOR_READ_UNTIL_ERROR, .fill = trio->alias.fill };
	int reads;

	actor_begin(&trio->server, &request);
	proc_recv(trio->server.proc.ctl, &reads, sizeof(reads));
}

static void test_the_server_reaches_the_hosts_memory(void **state)
{
	for (size_t i = 0; i < NUM_PATHS; i++) {
		struct trio trio = open_trio(paths[i], memory_for(paths[i]));
		char status[8192];

		assert_string_equal(trio.server.path, paths[i] ? paths[i] : "procmem");
		assert_int_equal(actor_read(&trio.server, &trio.alias), 0);
		assert_int_equal(actor_write(&trio.server, 0xa5), 0);
		trio.key.fill = 0xa5;
		assert_int_equal(actor_read(&trio.dpu, &trio.key), 0);
		daemon_read_status(test_session.dir, status, sizeof(status));
		assert_non_null(strstr(status, trio.server.path));
		close_trio(&trio);
	}
}

static void test_what_the_host_exports_for_reading_is_not_written(void **state)
{
	for (size_t i = 0; i < NUM_PATHS; i++) {
		struct trio trio;

		if (memory_for(paths[i]) == ACTOR_MEMFD)
			continue;
		trio = open_trio(paths[i], ACTOR_READ_ONLY);
		assert_int_equal(actor_write(&trio.server, 0xa5), -EACCES);
		assert_int_equal(actor_read(&trio.server, &trio.alias), 0);
		close_trio(&trio);
	}
}

/* The host overwrites and unmaps its memory as soon as the call returns: a copy that still ran would see that. */
static void test_the_host_ends_it_under_load(void **state)
{
	for (size_t i = 0; i < NUM_PATHS; i++) {
		struct trio trio = open_trio(paths[i], memory_for(paths[i]));

		begin_reading(&trio);
		assert_int_equal(actor_unexport(&trio.host, &trio.key), 0);
		assert_int_equal(actor_finish(&trio.server).rc, -EIO);
		assert_int_equal(actor_read(&trio.dpu, &trio.key), -EIO);
		assert_int_equal(actor_import(&trio.server, &trio.alias), -ESTALE);
		close_trio(&trio);
	}
}

/* The host's export and the DPU's import live on. */
static void test_the_dpu_ends_it_under_load(void **state)
{
	for (size_t i = 0; i < NUM_PATHS; i++) {
		struct trio trio = open_trio(paths[i], memory_for(paths[i]));

		begin_reading(&trio);
		assert_int_equal(actor_end_alias(&trio.dpu, &trio.alias), 0);
		assert_int_equal(actor_finish(&trio.server).rc, -EIO);
		assert_int_equal(actor_read(&trio.dpu, &trio.key), 0);
		assert_int_equal(actor_import(&trio.server, &trio.alias), -ESTALE);
		assert_int_equal(actor_export_imported(&trio.dpu, &trio.key, &trio.alias), 0);
		assert_int_equal(actor_import(&trio.server, &trio.alias), 0);
		assert_int_equal(actor_read(&trio.server, &trio.alias), 0);
		close_trio(&trio);
	}
}

static void test_the_end_of_the_dpus_import_ends_it(void **state)
{
	for (size_t i = 0; i < NUM_PATHS; i++) {
		struct trio trio = open_trio(paths[i], memory_for(paths[i]));

		begin_reading(&trio);
		assert_int_equal(actor_release(&trio.dpu), 0);
		assert_int_equal(actor_finish(&trio.server).rc, -EIO);
		assert_int_equal(actor_import(&trio.dpu, &trio.key), 0);
		assert_int_equal(actor_import(&trio.server, &trio.alias), -ESTALE);
		close_trio(&trio);
	}
}

/* The server's copy is held while the alias ends, and the host ends its export then: that waits for the copy. The copy reads what the
 * host had there, not what it writes when its call has returned. */
static void expect_host_waits_for_copy(struct trio *trio, void (*end_alias)(struct trio *trio))
{
	struct actor_request halted = { .op = ACTOR_READ_HALTED },
			     unexport = { .op = ACTOR_UNEXPORT, .memory = trio->key.number };
	struct actor_reply reply;
	char byte;

	actor_begin(&trio->server, &halted);
	proc_recv(trio->server.proc.ctl, &byte, 1); /* inside */
	end_alias(trio);
	proc_recv(trio->server.proc.ctl, &byte, 1); /* the server knows */
	actor_begin(&trio->host, &unexport);
	assert_false(proc_readable_within(trio->host.proc.ctl, 100));
	proc_send(trio->server.proc.ctl, "", 1);
	reply = actor_finish(&trio->server);
	assert_int_equal(reply.rc, 0);
	assert_int_equal(reply.fill, trio->key.fill);
	assert_int_equal(actor_finish(&trio->host).rc, 0);
}

static void end_by_key(struct trio *trio)
{
	const struct actor_request end = { .op = ACTOR_END_ALIAS, .key = trio->alias.key };

	actor_begin(&trio->dpu, &end); /* it waits, too */
}

static void end_by_import(struct trio *trio)
{
	assert_int_equal(actor_release(&trio->dpu), 0);
}

static void end_by_death(struct trio *trio)
{
	proc_signal(&trio->dpu.proc, SIGKILL);
}

static void test_the_host_waits_for_a_copy_by_an_alias_that_the_dpu_ends(void **state)
{
	struct trio trio = open_trio("mapped", ACTOR_MEMFD);

	expect_host_waits_for_copy(&trio, end_by_key);
	assert_int_equal(actor_finish(&trio.dpu).rc, 0);
	close_trio(&trio);
	trio = open_trio("mapped", ACTOR_MEMFD);
	expect_host_waits_for_copy(&trio, end_by_import);
	close_trio(&trio);
	trio = open_trio("mapped", ACTOR_MEMFD);
	expect_host_waits_for_copy(&trio, end_by_death);
	actor_detach(&trio.server);
	actor_detach(&trio.host);
}

static void expect_death_ends_it(const char *path, bool of_host)
{
	struct trio trio = open_trio(path, memory_for(path));
	struct actor *dying = of_host ? &trio.host : &trio.dpu, *other = of_host ? &trio.dpu : &trio.host;

	begin_reading(&trio);
	proc_signal(&dying->proc, SIGKILL);
	assert_true(actor_finish(&trio.server).rc < 0); /* -ESRCH, if cma meets the dead process */
	assert_true(daemon_forgets(test_session.dir, dying->proc.pid));
	assert_int_equal(actor_import(&trio.server, &trio.alias), -ESTALE);
	actor_detach(&trio.server);
	actor_detach(other);
}

static void test_the_death_of_the_host_or_the_dpu_ends_it(void **state)
{
	for (size_t i = 0; i < NUM_PATHS; i++) {
		expect_death_ends_it(paths[i], true);
		expect_death_ends_it(paths[i], false);
	}
}

/* The DPU's process takes no part in a copy. */
static void test_a_stopped_dpu_holds_nobody_up(void **state)
{
	for (size_t i = 0; i < NUM_PATHS; i++) {
		struct trio trio = open_trio(paths[i], memory_for(paths[i]));

		proc_signal(&trio.dpu.proc, SIGSTOP);
		assert_int_equal(actor_read(&trio.server, &trio.alias), 0);
		proc_signal(&trio.dpu.proc, SIGCONT);
		close_trio(&trio);
	}
}

/* Its memory, again: the path in its own process. */
static void test_the_host_imports_its_own_memory(void **state)
{
	struct trio trio = open_trio("shm", ACTOR_ANONYMOUS);

	assert_int_equal(actor_import(&trio.host, &trio.alias), 0);
	assert_string_equal(trio.host.path, "in-place");
	assert_int_equal(actor_read(&trio.host, &trio.alias), 0);
	assert_int_equal(actor_end_alias(&trio.dpu, &trio.alias), 0);
	assert_int_equal(actor_read(&trio.host, &trio.alias), -EIO);
	close_trio(&trio);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup, session_stop_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_server_reaches_the_hosts_memory),
		TEST(test_what_the_host_exports_for_reading_is_not_written),
		TEST(test_the_host_ends_it_under_load),
		TEST(test_the_dpu_ends_it_under_load),
		TEST(test_the_end_of_the_dpus_import_ends_it),
		TEST(test_the_host_waits_for_a_copy_by_an_alias_that_the_dpu_ends),
		TEST(test_the_death_of_the_host_or_the_dpu_ends_it),
		TEST(test_a_stopped_dpu_holds_nobody_up),
		TEST(test_the_host_imports_its_own_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
