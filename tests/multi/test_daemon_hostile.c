/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that violate the daemon's protocol: the daemon drops or refuses them, and serves all others. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "actor.h"
#include "raw_client.h"
#include "sim/protocol/session_dir.h"
#include "sim/protocol/wire.h"

#define DPU_FUNCTION  0 /* of the built-in topology */
#define HOST_FUNCTION 2
#define FEW_FDS       24 /* for a daemon that shall run out of descriptors */

static struct sim_key raw_export(int sock)
{
	struct sim_msg msg = {
		.type = SIM_MSG_EXPORT,
		.body.export = { .addr = 4096, .len_bytes = 4096, .access = SIM_ACCESS_READ, .function = HOST_FUNCTION }
	};

	msg = raw_call(sock, msg);
	assert_int_equal(msg.status, 0);
	return msg.body.exported;
}

static int raw_import(int sock, const struct sim_key *key)
{
	struct sim_msg msg = { .type = SIM_MSG_IMPORT, .body.import = { .key = *key, .function = DPU_FUNCTION } };

	return raw_call(sock, msg).status;
}

static int raw_key_call(int sock, uint16_t type, uint64_t key)
{
	struct sim_msg msg = { .type = type, .body.key.id = key };

	return raw_call(sock, msg).status;
}

static void expect_closed(int sock)
{
	char byte;

	assert_true(proc_readable_within(sock, PROC_DEADLINE_MS));
	assert_true(recv(sock, &byte, 1, 0) <= 0); /* with unread data, it is a reset */
	close(sock);
}

/* All other processes are served, and the daemon ends in order. */
static void expect_unharmed(void)
{
	actor_expect_served(test_session.dir);
	daemon_stop(&test_session.daemon);
	assert_int_equal(proc_num_files(test_session.dir), 0);
}

static void test_what_is_no_message_ends_its_connection(void **state)
{
	uint8_t noise[3000];

	memset(noise, 0xa5, sizeof(noise));
	for (size_t len = 1; len <= sizeof(noise); len = len * 2 + 1) {
		int sock = raw_connect();

		assert_int_equal(send(sock, noise, len, MSG_NOSIGNAL), len);
		expect_closed(sock);
		sock = raw_attach("dpu");
		assert_int_equal(send(sock, noise, len, MSG_NOSIGNAL), len);
		expect_closed(sock);
	}
	expect_unharmed();
}

static void test_requests_before_attaching_end_the_connection(void **state)
{
	for (uint16_t type = SIM_MSG_EXPORT; type < SIM_MSG_COUNT; type++) {
		struct sim_msg msg = { .type = type };
		int sock;

		if (type == SIM_MSG_STATUS || type == SIM_MSG_SHUTDOWN || type == SIM_MSG_SHARED_STATE ||
		    type == SIM_MSG_REACH || type == SIM_MSG_FAULT || type == SIM_MSG_GET_RECORDING)
			continue; /* these may come from any process */
		sock = raw_connect();
		raw_send(sock, msg, -1);
		expect_closed(sock);
	}
	expect_unharmed();
}

static void test_attaching_twice_is_refused_and_changes_nothing(void **state)
{
	struct sim_msg again = { .type = SIM_MSG_ATTACH, .body.attach.side = "host" };
	int exporter = raw_attach("host"), importer = raw_attach("dpu");
	struct sim_key key = raw_export(exporter);

	assert_int_equal(raw_call(importer, again).status, -EALREADY);
	assert_int_equal(raw_import(importer, &key), 0); /* the process is still on the DPU's side */
	close(importer);
	close(exporter);
	expect_unharmed();
}

/* A side, a program's name and other texts without a terminating zero. */
static void test_text_without_an_end_is_cut(void **state)
{
	struct sim_msg msg = { .type = SIM_MSG_ATTACH };
	int sock = raw_connect();

	memset(&msg.body.attach, 'x', sizeof(msg.body.attach));
	assert_int_equal(raw_call(sock, msg).status, -ENOENT);
	strcpy(msg.body.attach.side, "dpu");
	assert_int_equal(raw_call(sock, msg).status, 0);
	assert_int_equal(raw_call(sock, (struct sim_msg){ .type = SIM_MSG_STATUS }).status, 0);
	assert_int_equal(raw_call(sock, (struct sim_msg){ .type = SIM_MSG_REACH }).status, -ENODEV); /* one machine */
	close(sock);
	expect_unharmed();
}

static void test_keys_of_others_cannot_be_used(void **state)
{
	int exporter = raw_attach("host"), intruder = raw_attach("host"), importer = raw_attach("dpu");
	struct sim_key key = raw_export(exporter), guessed = { .id = key.id };
	struct sim_msg path = { .type = SIM_MSG_PATH, .body.path.id = key.id };
	struct sim_msg drop = { .type = SIM_MSG_UNIMPORT, .body.key.id = key.id };
	struct sim_msg describe = { .type = SIM_MSG_DESCRIBE, .body.describe.id = key.id };

	assert_int_equal(raw_import(importer, &guessed), -ESTALE);
	assert_int_equal(raw_key_call(intruder, SIM_MSG_REVOKE, key.id), -ESTALE);
	assert_int_equal(raw_call(importer, describe).status, -ESTALE);
	raw_send(importer, path, -1);
	raw_send(importer, drop, -1);
	assert_int_equal(raw_import(importer, &key), 0); /* the daemon has handled all earlier messages */
	assert_false(proc_readable_within(exporter, 0)); /* nothing was passed on */
	close(intruder);
	close(importer);
	close(exporter);
	expect_unharmed();
}

/* Ask for the memory of a key's exporter. Returns the status that the daemon answers with itself; 0 = it asks the exporter. */
static int raw_ask_for_memory(int importer, int exporter, uint64_t key, uint32_t transport)
{
	struct sim_msg describe = { .type = SIM_MSG_DESCRIBE,
				    .seq = 4711,
				    .body.describe = { .id = key, .transport = transport } };
	struct pollfd either[2] = { { .fd = importer, .events = POLLIN }, { .fd = exporter, .events = POLLIN } };
	struct sim_msg asked;

	raw_send(importer, describe, -1);
	assert_true(poll(either, 2, PROC_DEADLINE_MS) > 0);
	if (!either[1].revents)
		return raw_recv(importer).status;
	asked = raw_recv(exporter);
	assert_int_equal(asked.type, SIM_MSG_DESCRIBE);
	assert_int_equal(asked.body.describe.transport, transport);
	return 0;
}

static void expect_memory_is(int importer, int exporter, uint64_t key, int status)
{
	assert_int_equal(raw_ask_for_memory(importer, exporter, key, SIM_TRANSPORT_MEM), status);
	assert_int_equal(raw_ask_for_memory(importer, exporter, key, SIM_TRANSPORT_MAPS), status);
}

static void test_memory_is_not_asked_for_unless_the_session_permits_that(void **state)
{
	int exporter = raw_attach("host"), importer = raw_attach("dpu");
	struct sim_key key = raw_export(exporter);

	assert_int_equal(raw_import(importer, &key), 0);
	expect_memory_is(importer, exporter, key.id, -EPERM);
	close(importer);
	close(exporter);
	expect_unharmed();
}

/* The user of a connection is that of its begin. */
static int raw_attach_as(const char *side, uid_t user, gid_t group)
{
	int sock;

	assert_int_equal(setegid(group), 0);
	assert_int_equal(seteuid(user), 0);
	sock = raw_attach(side);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(setegid(0), 0);
	return sock;
}

static void test_memory_is_passed_between_processes_of_the_daemons_user_only(void **state)
{
	enum { USER = 23456, GROUP = 34567 };
	int exporter, importer, other_exporter, other_importer;
	struct sim_key key, other_key;

	if (geteuid() != 0)
		skip();
	daemon_stop(&test_session.daemon);
	daemon_start_passing(&test_session.daemon, test_session.dir, GROUP);
	exporter = raw_attach("host");
	importer = raw_attach("dpu");
	other_exporter = raw_attach_as("host", USER, GROUP);
	other_importer = raw_attach_as("dpu", USER, GROUP);
	key = raw_export(exporter);
	other_key = raw_export(other_exporter);
	assert_int_equal(raw_import(importer, &key), 0);
	assert_int_equal(raw_import(importer, &other_key), 0);
	assert_int_equal(raw_import(other_importer, &key), 0);
	assert_int_equal(raw_import(other_importer, &other_key), 0);
	expect_memory_is(importer, exporter, key.id, 0);
	expect_memory_is(importer, other_exporter, other_key.id, -EPERM);
	expect_memory_is(other_importer, exporter, key.id, -EPERM);
	expect_memory_is(other_importer, other_exporter, other_key.id, -EPERM);
	close(other_importer);
	close(other_exporter);
	close(importer);
	close(exporter);
	expect_unharmed();
}

static struct sim_msg raw_export_alias(int sock, uint64_t origin, uint32_t function)
{
	struct sim_msg msg = { .type = SIM_MSG_EXPORT_ALIAS, .body.alias = { .origin = origin, .function = function } };

	return raw_call(sock, msg);
}

/* An alias of memory that the process has not imported, of an alias, and by others' functions; its end is its maker's. */
static void test_aliases_of_others_memory_are_refused(void **state)
{
	int exporter = raw_attach("host"), maker = raw_attach("dpu"), intruder = raw_attach("dpu");
	struct sim_key key = raw_export(exporter), alias;
	struct sim_msg made, describe = { .type = SIM_MSG_DESCRIBE };

	assert_int_equal(raw_export_alias(intruder, key.id, DPU_FUNCTION).status, -ESTALE);
	assert_int_equal(raw_export_alias(exporter, key.id, HOST_FUNCTION).status, -ESTALE);
	assert_int_equal(raw_export_alias(maker, UINT64_MAX, DPU_FUNCTION).status, -ESTALE);
	assert_int_equal(raw_import(maker, &key), 0);
	assert_int_equal(raw_export_alias(maker, key.id, HOST_FUNCTION).status, -EINVAL);
	assert_int_equal(raw_export_alias(maker, key.id, UINT32_MAX).status, -EINVAL);
	assert_int_equal(raw_export_alias(intruder, key.id, DPU_FUNCTION).status, -ESTALE);
	made = raw_export_alias(maker, key.id, DPU_FUNCTION);
	assert_int_equal(made.status, 0);
	alias = made.body.exported;
	assert_memory_not_equal(alias.secret, key.secret, sizeof(key.secret));
	memcpy(made.body.exported.secret, key.secret, sizeof(key.secret));
	assert_int_equal(raw_import(intruder, &made.body.exported), -ESTALE);
	assert_int_equal(raw_key_call(exporter, SIM_MSG_REVOKE, alias.id), -ESTALE);
	assert_int_equal(raw_key_call(intruder, SIM_MSG_REVOKE, alias.id), -ESTALE);
	assert_int_equal(raw_import(intruder, &alias), 0);
	assert_int_equal(raw_export_alias(intruder, alias.id, DPU_FUNCTION).status, -EACCES);
	describe.body.describe.id = key.id; /* it has imported the alias, not the origin */
	assert_int_equal(raw_call(intruder, describe).status, -ESTALE);
	assert_false(proc_readable_within(exporter, 0));
	close(intruder);
	close(maker);
	close(exporter);
	expect_unharmed();
}

/* The exporter learns both keys from the daemon, and of the end of the alias that it serves. */
static void test_the_exporter_of_an_alias_is_told_by_the_daemon(void **state)
{
	int exporter = raw_attach("host"), maker = raw_attach("dpu"), importer = raw_attach("dpu");
	struct sim_key key = raw_export(exporter), alias;
	struct sim_msg describe = { .type = SIM_MSG_DESCRIBE, .body.describe.memory = UINT64_MAX }, got;
	struct sim_msg drop = { .type = SIM_MSG_UNIMPORT, .body.key.id = key.id };

	assert_int_equal(raw_import(maker, &key), 0);
	alias = raw_export_alias(maker, key.id, DPU_FUNCTION).body.exported;
	assert_int_equal(raw_import(importer, &alias), 0);
	describe.body.describe.id = alias.id;
	raw_send(importer, describe, -1);
	got = raw_recv(exporter);
	assert_int_equal(got.type, SIM_MSG_DESCRIBE);
	assert_true(got.body.describe.id == alias.id);
	assert_true(got.body.describe.memory == key.id);
	raw_send(maker, drop, -1); /* its import is what it had the right from */
	got = raw_recv(exporter);
	assert_int_equal(got.type, SIM_MSG_REVOKED);
	assert_true(got.body.key.id == alias.id);
	got = raw_recv(importer);
	assert_int_equal(got.type, SIM_MSG_REVOKED);
	assert_true(got.body.key.id == alias.id);
	assert_int_equal(raw_import(importer, &alias), -ESTALE);
	close(importer);
	close(maker);
	close(exporter);
	expect_unharmed();
}

/* The exporter's call waits for the importers of its memory and of the alias, each of which answers with its own key. */
static void test_a_revocation_waits_for_importers_of_aliases(void **state)
{
	int exporter = raw_attach("host"), maker = raw_attach("dpu"), importer = raw_attach("dpu");
	struct sim_key key = raw_export(exporter), alias;
	struct sim_msg revoke = { .type = SIM_MSG_REVOKE, .seq = 99, .body.key.id = key.id };
	struct sim_msg gone = { .type = SIM_MSG_REVOKED, .is_reply = 1 };

	assert_int_equal(raw_import(maker, &key), 0);
	alias = raw_export_alias(maker, key.id, DPU_FUNCTION).body.exported;
	assert_int_equal(raw_import(importer, &alias), 0);
	assert_int_equal(raw_import(importer, &key), 0);
	raw_send(exporter, revoke, -1);
	assert_int_equal(raw_recv(maker).type, SIM_MSG_REVOKED);
	gone.seq = key.id;
	raw_send(maker, gone, -1);
	raw_send(importer, gone, -1);
	raw_settle(importer);
	assert_false(proc_readable_within(exporter, 0)); /* the alias is not released */
	gone.seq = alias.id;
	raw_send(importer, gone, -1);
	assert_int_equal(raw_recv(exporter).seq, 99);
	close(importer);
	close(maker);
	close(exporter);
	expect_unharmed();
}

static void test_unexpected_replies_do_nothing(void **state)
{
	int exporter = raw_attach("host"), importer = raw_attach("dpu"), waiting = raw_attach("dpu"),
	    stranger = raw_connect();
	struct sim_key key = raw_export(exporter);
	struct sim_msg revoke = { .type = SIM_MSG_REVOKE, .seq = 99, .body.key.id = key.id };
	struct sim_msg gone = { .type = SIM_MSG_REVOKED, .is_reply = 1, .seq = key.id };
	struct sim_msg answer = { .type = SIM_MSG_DESCRIBE, .is_reply = 1 };

	assert_int_equal(raw_import(importer, &key), 0);
	for (uint16_t type = 0; type < SIM_MSG_COUNT; type++)
		if (sim_msg_size(type, true))
			raw_send(waiting, (struct sim_msg){ .type = type, .is_reply = 1, .seq = 1 }, -1);
	raw_send(exporter, revoke, -1);
	assert_int_equal(raw_recv(importer).type, SIM_MSG_REVOKED);
	raw_send(waiting, gone, -1);  /* without a request */
	raw_send(stranger, gone, -1); /* not even attached */
	raw_send(waiting, answer, -1);
	raw_settle(waiting);
	raw_settle(stranger);
	assert_false(proc_readable_within(exporter, 0)); /* the importer has not released it */
	raw_send(importer, gone, -1);
	assert_int_equal(raw_recv(exporter).seq, 99);
	close(stranger);
	close(waiting);
	close(importer);
	close(exporter);
	expect_unharmed();
}

/* The time from the importer's death until the exporter's revocation returns. */
static int64_t revoke_from_the_dead_ms(void)
{
	int exporter = raw_attach("host"), importer = raw_attach("dpu");
	struct sim_key key = raw_export(exporter);
	struct sim_msg revoke = { .type = SIM_MSG_REVOKE, .seq = 99, .body.key.id = key.id };
	int64_t start;

	assert_int_equal(raw_import(importer, &key), 0);
	raw_send(exporter, revoke, -1);
	assert_int_equal(raw_recv(importer).type, SIM_MSG_REVOKED);
	start = proc_now_ms();
	close(importer);
	assert_int_equal(raw_recv(exporter).seq, 99);
	close(exporter);
	return proc_now_ms() - start;
}

/* The daemon waits two seconds for importers that live. A machine under load may be as slow, but not each time. */
static void test_a_dead_importer_is_not_waited_for(void **state)
{
	int tries = 0;

	while (revoke_from_the_dead_ms() >= 2000)
		assert_true(++tries < 3);
	expect_unharmed();
}

/* ---- requests of the data path's description from an exporter ---- */

struct question {
	int exporter, importer;
	uint64_t key;
	struct sim_msg asked; /* as the exporter received it */
};

static struct question ask(void)
{
	struct question q = { .exporter = raw_attach("host"), .importer = raw_attach("dpu") };
	struct sim_key key = raw_export(q.exporter);
	struct sim_msg describe = { .type = SIM_MSG_DESCRIBE, .seq = 4711, .body.describe.id = key.id };

	q.key = key.id;
	assert_int_equal(raw_import(q.importer, &key), 0);
	raw_send(q.importer, describe, -1);
	q.asked = raw_recv(q.exporter);
	assert_int_equal(q.asked.type, SIM_MSG_DESCRIBE);
	assert_int_equal(q.asked.body.describe.id, key.id);
	return q;
}

static void test_an_exporters_reply_reaches_the_requester(void **state)
{
	struct question q = ask();
	struct sim_msg answer = { .type = SIM_MSG_DESCRIBE, .is_reply = 1, .seq = q.asked.seq, .status = -ENOSYS };
	struct sim_msg got;

	answer.seq++; /* a reply without a request */
	raw_send(q.exporter, answer, -1);
	answer.seq--;
	raw_send(q.importer, answer, -1);         /* from a process that is not the exporter */
	answer.body.described.index = UINT32_MAX; /* passed on as it is: the exporter checks it */
	raw_send(q.exporter, answer, -1);
	raw_send(q.exporter, answer, -1); /* twice */
	got = raw_recv(q.importer);
	assert_int_equal(got.seq, 4711);
	assert_int_equal(got.status, -ENOSYS);
	assert_int_equal(got.body.described.index, UINT32_MAX);
	raw_settle(q.exporter);
	assert_false(proc_readable_within(q.importer, 0));
	close(q.importer);
	close(q.exporter);
	expect_unharmed();
}

/* A positive status: a caller that checks for negative values only would take it for success. */
static void test_an_answer_with_a_positive_status_ends_the_exporter(void **state)
{
	struct question q = ask();
	struct sim_msg answer = { .type = SIM_MSG_DESCRIBE, .is_reply = 1, .seq = q.asked.seq, .status = 7 };
	struct sim_msg got;

	raw_send(q.exporter, answer, -1);
	expect_closed(q.exporter);
	do
		got = raw_recv(q.importer); /* GONE arrives first */
	while (!got.is_reply);
	assert_int_equal(got.status, -ESTALE);
	close(q.importer);
	expect_unharmed();
}

static void test_an_exporter_that_leaves_owes_no_answer(void **state)
{
	struct question q = ask();
	struct sim_msg got;

	close(q.exporter);
	do
		got = raw_recv(q.importer);
	while (!got.is_reply);
	assert_int_equal(got.seq, 4711);
	assert_int_equal(got.status, -ESTALE);
	close(q.importer);
	expect_unharmed();
}

/* The daemon answers in the exporter's place within the importer's timeout. */
static void test_an_exporter_that_never_answers_is_answered_for(void **state)
{
	struct question q = ask();
	struct sim_msg got = raw_recv(q.importer);

	assert_int_equal(got.seq, 4711);
	assert_int_equal(got.status, -ETIMEDOUT);
	close(q.importer);
	close(q.exporter);
	expect_unharmed();
}

static void test_a_process_has_a_limited_number_of_questions(void **state)
{
	struct question q = ask();
	struct sim_msg describe = { .type = SIM_MSG_DESCRIBE, .body.describe.id = q.key };

	for (int i = 1; i < 64; i++)
		raw_send(q.importer, describe, -1);
	assert_int_equal(raw_call(q.importer, describe).status, -EBUSY);
	for (int i = 1; i < 64; i++) /* the exporter received those, and no more */
		raw_recv(q.exporter);
	assert_false(proc_readable_within(q.exporter, 0));
	close(q.importer);
	close(q.exporter);
	expect_unharmed();
}

/* ---- descriptors ---- */

static void test_unexpected_descriptors_are_closed(void **state)
{
	int sock = raw_attach("dpu"), before;

	raw_settle(sock);
	before = proc_num_fds(test_session.daemon.pid);
	for (int round = 0; round < 20; round++) {
		for (uint16_t type = SIM_MSG_ATTACH; type < SIM_MSG_DETACH; type++) {
			if (type != SIM_MSG_SHUTDOWN && type != SIM_MSG_REVOKED && sim_msg_size(type, false))
				raw_send(sock, (struct sim_msg){ .type = type }, STDERR_FILENO);
			if (sim_msg_size(type, true))
				raw_send(sock, (struct sim_msg){ .type = type, .is_reply = 1 }, STDERR_FILENO);
		}
	}
	raw_settle(sock);
	assert_int_equal(proc_num_fds(test_session.daemon.pid), before);
	close(sock);
	expect_unharmed();
}

static int raw_fault(int sock, struct sim_msg msg, int fd)
{
	raw_send(sock, msg, fd);
	assert_int_equal(sim_msg_recv(sock, &msg, &fd), 0);
	assert_int_equal(msg.type, SIM_MSG_FAULT);
	return msg.status;
}

/* Rules that no text compiles to, delays that are none, and unknown changes. */
static void test_invalid_changes_of_the_fault_plan_are_refused(void **state)
{
	struct sim_msg msg = { .type = SIM_MSG_FAULT, .body.fault = { .change = SIM_FAULT_ADD } };
	int sock = raw_connect(), nothing = open("/dev/null", O_RDONLY | O_CLOEXEC), closed[2];
	char delays_file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;

	assert_int_equal(pipe2(closed, O_CLOEXEC), 0);
	assert_int_equal(raw_fault(sock, msg, -1), -EINVAL);
	memset(&msg.body.fault.rule, 0xff, sizeof(msg.body.fault.rule));
	assert_int_equal(raw_fault(sock, msg, -1), -EINVAL);
	assert_int_equal(sim_rule_parse("dma.memcpy delay=trace(x)", &msg.body.fault.rule, delays_file, &error), 0);
	assert_int_equal(raw_fault(sock, msg, -1), -EINVAL); /* without the delays */
	assert_int_equal(raw_fault(sock, msg, nothing), -EINVAL);
	assert_int_equal(raw_fault(sock, msg, closed[0]), -EINVAL); /* a pipe can't be read at a place */
	for (uint32_t change = SIM_FAULT_BEGIN + 1; change < SIM_FAULT_BEGIN + 4; change++) {
		msg.body.fault.change = change;
		assert_int_equal(raw_fault(sock, msg, -1), -EINVAL);
	}
	for (int i = 0; i < 2; i++) {
		msg.body.fault.change = i ? SIM_FAULT_REMOVE : SIM_FAULT_BEGIN;
		msg.body.fault.id = 1;
		assert_int_equal(raw_fault(sock, msg, -1), -ENOENT);
	}
	close(closed[0]);
	close(closed[1]);
	close(nothing);
	close(sock);
	expect_unharmed();
}

static void test_an_export_keeps_one_descriptor_until_it_ends(void **state)
{
	struct sim_msg export = { .type = SIM_MSG_EXPORT,
				  .body.export = { .addr = 4096, .len_bytes = 4096, .function = HOST_FUNCTION } };
	int other = raw_attach("host"), sock, num_fds, before;
	struct sim_key key;

	raw_settle(other); /* the connections of the test before are closed */
	num_fds = proc_num_fds(test_session.daemon.pid);
	sock = raw_attach("host");
	before = proc_num_fds(test_session.daemon.pid);
	raw_send(sock, export, STDERR_FILENO);
	key = raw_recv(sock).body.exported;
	assert_int_equal(proc_num_fds(test_session.daemon.pid), before + 1);
	assert_int_equal(raw_key_call(sock, SIM_MSG_REVOKE, key.id), 0);
	assert_int_equal(proc_num_fds(test_session.daemon.pid), before);
	raw_send(sock, export, STDERR_FILENO);
	assert_int_equal(raw_recv(sock).status, 0);
	close(sock); /* with one export left */
	raw_settle(other);
	assert_int_equal(proc_num_fds(test_session.daemon.pid), num_fds);
	close(other);
	expect_unharmed();
}

/* More processes than descriptors: the daemon refuses the surplus at once, and has room again after others leave. */
static void test_processes_beyond_the_limit_are_refused(void **state)
{
	int socks[2 * FEW_FDS];

	daemon_stop(&test_session.daemon);
	daemon_start_limited(&test_session.daemon, test_session.dir, FEW_FDS);
	for (int i = 0; i < 2 * FEW_FDS; i++)
		socks[i] = raw_connect();
	expect_closed(socks[2 * FEW_FDS - 1]);
	for (int i = 0; i < 2 * FEW_FDS - 1; i++)
		close(socks[i]);
	expect_unharmed();
}

/* ---- processes that do not read, and processes that flood ---- */

static void test_unread_replies_end_the_connection(void **state)
{
	int sock = raw_attach("dpu");
	struct sim_msg status = { .type = SIM_MSG_STATUS };
	int sent = 0;

	while (sent < 100000 && sim_msg_send(sock, &status, -1) == 0)
		sent++;
	assert_in_range(sent, 1024, 99999);
	close(sock);
	expect_unharmed();
}

static void flood(int ctl, const void *arg)
{
	struct sim_msg nudge = { .type = SIM_MSG_NOTIFY_PEER };
	int sock = raw_connect(), fd;
	struct sim_msg attach = { .type = SIM_MSG_ATTACH, .body.attach.side = "dpu" };

	CHECK(sim_msg_send(sock, &attach, -1) == 0);
	CHECK(sim_msg_recv(sock, &attach, &fd) == 0);
	proc_send(ctl, "", 1);
	for (;;)
		if (sim_msg_send(sock, &nudge, -1) < 0)
			break;
}

static void test_a_flood_from_some_does_not_starve_the_others(void **state)
{
	struct proc floods[3];
	char byte;

	for (int i = 0; i < 3; i++) {
		proc_start(&floods[i], flood, NULL);
		proc_recv(floods[i].ctl, &byte, 1);
	}
	expect_unharmed();
	for (int i = 0; i < 3; i++)
		proc_end(&floods[i]); /* they saw the daemon's end */
}

/* ---- a process that claims to be another one ---- */

static uint8_t claimed[ACTOR_BYTES]; /* at one address in the victim and in the liar, with other contents */

static void be_victim(int ctl, const void *arg)
{
	char byte = 0;

	memset(claimed, 0x11, sizeof(claimed));
	proc_send(ctl, &byte, 1);
	recv(ctl, &byte, 1, 0); /* until the test is done */
}

/* Attach as the victim, with its pid, and export the address of its memory. */
static void be_liar(int ctl, const void *arg)
{
	struct sim_msg attach = { .type = SIM_MSG_ATTACH, .body.attach = { .id = 5, .uid = 4321, .side = "host" } };
	struct sim_msg export = { .type = SIM_MSG_EXPORT,
				  .body.export = { .addr = (uintptr_t)claimed,
						   .cpu_addr = (uintptr_t)claimed,
						   .len_bytes = sizeof(claimed),
						   .access = SIM_ACCESS_READ | SIM_ACCESS_WRITE,
						   .function = HOST_FUNCTION } };
	struct actor_key key = { .fill = 0x22 };
	int sock = raw_connect();
	struct sim_msg attached;
	char byte;

	memcpy(&attach.body.attach.pid, arg, sizeof(pid_t));
	memset(claimed, key.fill, sizeof(claimed));
	attached = raw_call(sock, attach);
	CHECK(attached.status == 0 && attached.body.attached.pid == getpid() &&
	      attached.body.attached.uid == geteuid() && attached.body.attached.id != 5);
	key.key = raw_call(sock, export).body.exported;
	proc_send(ctl, &key, sizeof(key));
	recv(ctl, &byte, 1, 0);
	close(sock);
}

/* An importer reaches the process that attached, and not the one that it claims to be. */
static void test_a_pid_that_is_claimed_lends_no_rights(void **state)
{
	struct proc victim, liar;
	struct actor_key key;
	struct actor dpu;
	char byte;

	proc_start(&victim, be_victim, NULL);
	proc_recv(victim.ctl, &byte, 1);
	proc_start(&liar, be_liar, &victim.pid);
	proc_recv(liar.ctl, &key, sizeof(key));
	assert_int_equal(actor_attach(&dpu, test_session.dir, "dpu", "cma"), 0);
	assert_int_equal(actor_import(&dpu, &key), 0);
	assert_string_equal(dpu.path, "cma");
	assert_int_equal(actor_read(&dpu, &key), 0);
	actor_detach(&dpu);
	proc_end(&liar);
	proc_end(&victim);
	expect_unharmed();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup, session_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_is_no_message_ends_its_connection),
		TEST(test_requests_before_attaching_end_the_connection),
		TEST(test_attaching_twice_is_refused_and_changes_nothing),
		TEST(test_text_without_an_end_is_cut),
		TEST(test_keys_of_others_cannot_be_used),
		TEST(test_memory_is_not_asked_for_unless_the_session_permits_that),
		TEST(test_memory_is_passed_between_processes_of_the_daemons_user_only),
		TEST(test_aliases_of_others_memory_are_refused),
		TEST(test_the_exporter_of_an_alias_is_told_by_the_daemon),
		TEST(test_a_revocation_waits_for_importers_of_aliases),
		TEST(test_unexpected_replies_do_nothing),
		TEST(test_a_dead_importer_is_not_waited_for),
		TEST(test_an_exporters_reply_reaches_the_requester),
		TEST(test_an_answer_with_a_positive_status_ends_the_exporter),
		TEST(test_an_exporter_that_leaves_owes_no_answer),
		TEST(test_an_exporter_that_never_answers_is_answered_for),
		TEST(test_a_process_has_a_limited_number_of_questions),
		TEST(test_unexpected_descriptors_are_closed),
		TEST(test_invalid_changes_of_the_fault_plan_are_refused),
		TEST(test_an_export_keeps_one_descriptor_until_it_ends),
		TEST(test_processes_beyond_the_limit_are_refused),
		TEST(test_unread_replies_end_the_connection),
		TEST(test_a_pid_that_is_claimed_lends_no_rights),
		TEST(test_a_flood_from_some_does_not_starve_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
