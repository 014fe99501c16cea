/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes on one card, and its daemon: attaching, exporting, importing, and the order of teardown. Killed
 * processes are in test_daemon_death.c. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "actor.h"
#include "sim/state/shared_state.h"
#include "sim/protocol/session_dir.h"
#include "sim/protocol/wire.h"

#define MANY 64

static struct actor host, dpu;

static int setup_pair(void **state)
{
	session_setup(state);
	assert_int_equal(actor_attach(&host, test_session.dir, "host", NULL), 0);
	assert_int_equal(actor_attach(&dpu, test_session.dir, "dpu", NULL), 0);
	return 0;
}

/* Detach both, stop the daemon, and expect an empty directory. */
static void end_pair(void)
{
	actor_detach(&dpu);
	actor_detach(&host);
	daemon_stop(&test_session.daemon);
	assert_int_equal(proc_num_files(test_session.dir), 0);
}

static void test_what_is_exported_is_read_and_written_by_the_other_side(void **state)
{
	struct actor_key key;

	assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &key), 0);
	assert_int_equal(actor_import(&dpu, &key), 0);
	assert_string_equal(dpu.path, "procmem");
	assert_int_equal(actor_read(&dpu, &key), 0);
	assert_int_equal(actor_write(&dpu, 0x77), 0);
	key.fill = 0x77;
	assert_int_equal(actor_read(&dpu, &key), 0);
	actor_release(&dpu);
	assert_int_equal(actor_unexport(&host, &key), 0);
	end_pair();
}

static void test_memory_in_a_shared_object_is_mapped(void **state)
{
	struct actor_key key;

	assert_int_equal(actor_export(&host, ACTOR_MEMFD, &key), 0);
	assert_int_equal(actor_import(&dpu, &key), 0);
	assert_string_equal(dpu.path, "mapped");
	assert_int_equal(actor_read(&dpu, &key), 0);
	assert_int_equal(actor_write(&dpu, 0x78), 0);
	key.fill = 0x78;
	assert_int_equal(actor_read(&dpu, &key), 0);
	end_pair();
}

/* The exporter is not in the library, and in a system call once in a million steps. */
static void test_an_exporter_that_computes_is_read_as_well(void **state)
{
	struct actor_request compute = { .op = ACTOR_COMPUTE };
	struct actor_key keys[2];
	char byte;

	assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &keys[0]), 0);
	assert_int_equal(actor_export(&host, ACTOR_MEMFD, &keys[1]), 0);
	actor_begin(&host, &compute);
	proc_recv(host.proc.ctl, &byte, 1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(actor_import(&dpu, &keys[i]), 0);
		assert_int_equal(actor_read(&dpu, &keys[i]), 0);
	}
	proc_send(host.proc.ctl, "", 1);
	actor_finish(&host);
	end_pair();
}

static void test_a_forced_path_is_used_or_nothing(void **state)
{
	static const struct {
		const char *path;
		enum actor_memory memory;
		int rc;
	} cases[] = {
		{ "cma", ACTOR_ANONYMOUS, 0 },         { "cma", ACTOR_MEMFD, 0 },
		{ "procmem", ACTOR_ANONYMOUS, 0 },     { "procmem", ACTOR_MEMFD, 0 },
		{ "mapped", ACTOR_MEMFD, 0 },          { "mapped", ACTOR_ANONYMOUS, -ENOTSUP },
		{ "in-place", ACTOR_MEMFD, -ENOTSUP }, { "no-such-path", ACTOR_MEMFD, -ENOTSUP },
	};
	struct actor forced;
	struct actor_key key;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(actor_attach(&forced, test_session.dir, "dpu", cases[i].path), 0);
		assert_int_equal(actor_export(&host, cases[i].memory, &key), 0);
		assert_int_equal(actor_import(&forced, &key), cases[i].rc);
		if (cases[i].rc == 0) {
			assert_string_equal(forced.path, cases[i].path);
			assert_int_equal(actor_read(&forced, &key), 0);
		}
		actor_detach(&forced);
	}
	end_pair();
}

static void test_ended_exports_fail_and_cannot_be_imported_again(void **state)
{
	struct actor_key keys[2];

	for (int memory = ACTOR_ANONYMOUS; memory <= ACTOR_MEMFD; memory++) {
		assert_int_equal(actor_export(&host, (enum actor_memory)memory, &keys[memory]), 0);
		assert_int_equal(actor_import(&dpu, &keys[memory]), 0);
		assert_int_equal(actor_unexport(&host, &keys[memory]), 0);
		assert_int_equal(actor_read(&dpu, &keys[memory]), -EIO);
		assert_int_equal(actor_write(&dpu, 1), -EIO);
		assert_int_equal(actor_import(&dpu, &keys[memory]), -ESTALE);
	}
	end_pair();
}

/* The importer's copy stops in the middle, at a page that it can't write to.
 * The exporter must not come back from ending the export before that copy is out. */
static void test_an_export_ends_only_when_a_running_copy_is_out(void **state)
{
	struct actor_request halted = { .op = ACTOR_READ_HALTED }, unexport = { .op = ACTOR_UNEXPORT };
	struct actor_reply reply;
	struct actor_key key;
	char byte;

	assert_int_equal(actor_export(&host, ACTOR_MEMFD, &key), 0);
	assert_int_equal(actor_import(&dpu, &key), 0);
	actor_begin(&dpu, &halted);
	proc_recv(dpu.proc.ctl, &byte, 1); /* inside */
	unexport.memory = key.number;
	actor_begin(&host, &unexport);
	proc_recv(dpu.proc.ctl, &byte, 1); /* the importer knows */
	assert_false(proc_readable_within(host.proc.ctl, 100));
	proc_send(dpu.proc.ctl, "", 1);
	reply = actor_finish(&dpu);
	assert_int_equal(reply.rc, 0);
	assert_int_equal(reply.fill, key.fill); /* and not the exporter's later writes */
	assert_int_equal(actor_finish(&host).rc, 0);
	end_pair();
}

/* Many at once, as at the end of a host program with many importers. */
static void test_a_reader_sees_all_of_the_memory_or_an_error(void **state)
{
	struct actor_request read = { .op = ACTOR_READ_UNTIL_ERROR };
	struct actor_key key;
	int reads;

	for (int round = 0; round < 20; round++) {
		assert_int_equal(actor_export(&host, (enum actor_memory)(round % 2), &key), 0);
		assert_int_equal(actor_import(&dpu, &key), 0);
		read.fill = key.fill;
		actor_begin(&dpu, &read);
		proc_recv(dpu.proc.ctl, &reads, sizeof(reads));
		assert_int_equal(actor_unexport(&host, &key), 0);
		assert_int_equal(actor_finish(&dpu).rc, -EIO);
	}
	end_pair();
}

static void test_a_descriptor_of_another_session_is_refused(void **state)
{
	char *other_dir = proc_make_dir();
	struct actor_key ours, theirs;
	struct actor other_host;
	struct proc other;
	struct sim_key key;
	uint8_t session[SIM_SESSION_ID_SIZE];

	daemon_start(&other, other_dir, NULL);
	assert_int_equal(actor_attach(&other_host, other_dir, "host", NULL), 0);
	assert_int_equal(actor_export(&other_host, ACTOR_ANONYMOUS, &theirs), 0);
	assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &ours), 0);
	/* A descriptor names its session in bytes 16 to 31 ... */
	memcpy(session, ours.descriptor + 16, sizeof(session));
	assert_int_equal(sim_descriptor_decode(session, ours.descriptor, SIM_DESCRIPTOR_BYTES, &key), 0);
	assert_int_equal(sim_descriptor_decode(session, theirs.descriptor, SIM_DESCRIPTOR_BYTES, &key), -ESTALE);
	/* ... and the daemon would refuse its key too, though both are the first of their sessions. */
	assert_int_equal(theirs.key.id, ours.key.id);
	assert_int_equal(actor_import(&dpu, &theirs), -ESTALE);
	actor_detach(&other_host);
	daemon_stop(&other);
	proc_remove_dir(other_dir);
	end_pair();
}

/* Each process exports one memory, in turns anonymous and in an object, and imports those of all others. */
static void test_sixty_four_processes_reach_each_others_memory(void **state)
{
	static const char topology[] =
		"cards:\n- profile: bluefield-3\n  functions:\n"
		"  - {side: dpu, type: pf, pci: \"03:00.0\"}\n"
		"  - {side: host, type: pf, pci: \"b1:00.0\", caps: {mmap-from-export-pci: true}}\n";
	static struct actor actors[MANY];
	static struct actor_key keys[MANY];
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/t.yaml", test_session.dir);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(topology, file);
	fclose(file);
	daemon_start(&test_session.daemon, test_session.dir, path);
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(actor_attach(&actors[i], test_session.dir, "host", NULL), 0);
		assert_int_equal(actor_export(&actors[i], (enum actor_memory)(i % 2), &keys[i]), 0);
	}
	for (int step = 1; step < MANY; step++) {
		struct actor_request request = { .op = ACTOR_IMPORT };

		for (int i = 0; i < MANY; i++) {
			request.key = keys[(i + step) % MANY].key;
			actor_begin(&actors[i], &request);
		}
		for (int i = 0; i < MANY; i++)
			assert_int_equal(actor_finish(&actors[i]).rc, 0);
		request.op = ACTOR_READ;
		for (int i = 0; i < MANY; i++)
			actor_begin(&actors[i], &request);
		for (int i = 0; i < MANY; i++) {
			struct actor_reply reply = actor_finish(&actors[i]);

			assert_int_equal(reply.rc, 0);
			assert_int_equal(reply.fill, keys[(i + step) % MANY].fill);
		}
	}
	for (int i = 0; i < MANY; i++)
		actor_detach(&actors[i]);
	daemon_stop(&test_session.daemon);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(proc_num_files(test_session.dir), 0);
}

/* ---- attaching ---- */

/* A daemon in the test that counts the packets of a process. */
static void count_packets(int ctl, const void *arg)
{
	const char *yaml = pcie_topology_default_yaml();
	int dir_fd = sim_session_dir_open(arg, false), listening, sock, fd, shared_fd, packets = 0;
	struct sim_segment shared;
	struct sim_msg msg;

	CHECK(sim_session_dir_write(dir_fd, "topology.yaml", yaml, strlen(yaml)) == 0);
	CHECK(sim_shared_state_create(SIM_CLOCK_FUNCTIONAL, &shared, &shared_fd) == 0);
	listening = sim_session_dir_listen(dir_fd);
	CHECK(listening >= 0);
	proc_send(ctl, "", 1);
	sock = accept(listening, NULL, NULL);
	while (sim_msg_recv(sock, &msg, &fd) == 0) {
		packets++;
		if (msg.type == SIM_MSG_ATTACH) {
			msg.is_reply = 1;
			CHECK(sim_msg_send(sock, &msg, shared_fd) == 0);
		}
	}
	proc_send(ctl, &packets, sizeof(packets));
	close(sock);
	close(listening);
	close(shared_fd);
	sim_segment_unmap(&shared);
	close(dir_fd);
}

/* One request, one reply, and one packet with the recording: no further request, and no packet more for a larger
 * card or more processes. Detaching takes one packet more. */
static void test_attaching_takes_one_request_and_one_reply(void **state)
{
	struct proc counter;
	char ready;
	int packets;

	proc_start(&counter, count_packets, test_session.dir);
	proc_recv(counter.ctl, &ready, 1);
	assert_int_equal(actor_attach(&host, test_session.dir, "host", NULL), 0);
	actor_detach(&host);
	proc_recv(counter.ctl, &packets, sizeof(packets));
	assert_int_equal(packets, 3);
	proc_end(&counter);
}

static void interrupt(int signal)
{
}

/* An application with a timer: its signals come while it attaches. */
static void attach_under_signals(int ctl, const void *arg)
{
	struct sigaction catch = { .sa_handler = interrupt };
	struct itimerval often = { .it_interval = { .tv_usec = 200 }, .it_value = { .tv_usec = 200 } };
	struct sim_session_cfg cfg = { .dir = arg, .side = "host" };
	int rc = 0;

	sigaction(SIGALRM, &catch, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < (PROC_IS_SLOW ? 20 : 200) && rc == 0; i++) {
		struct sim_session *session;

		rc = sim_session_attach(&cfg, &session);
		if (rc == 0)
			sim_session_detach(session);
	}
	proc_send(ctl, &rc, sizeof(rc));
}

static void test_signals_of_the_application_do_not_disturb_attaching(void **state)
{
	struct proc proc;
	int rc;

	proc_start(&proc, attach_under_signals, test_session.dir);
	proc_recv(proc.ctl, &rc, sizeof(rc));
	assert_int_equal(rc, 0);
	proc_end(&proc);
	daemon_stop(&test_session.daemon);
}

static void test_a_side_that_the_card_lacks_is_refused(void **state)
{
	assert_int_equal(actor_attach(&host, test_session.dir, "node9/host", NULL), -ENOENT);
	daemon_stop(&test_session.daemon);
}

static void test_without_a_session_there_is_nothing_to_attach_to(void **state)
{
	char path[128];

	assert_int_equal(actor_attach(&host, test_session.dir, "host", NULL), -ENOENT);
	snprintf(path, sizeof(path), "%s/nowhere", test_session.dir);
	assert_int_equal(actor_attach(&dpu, path, "host", NULL), -ENOENT);
	assert_int_equal(proc_num_files(test_session.dir), 0);
}

/* ---- sessions and their directories ---- */

static void test_a_session_may_have_a_long_name(void **state)
{
	char path[400], *end = path + snprintf(path, sizeof(path), "%s/", test_session.dir);
	struct actor_key key;

	memset(end, 'x', 240);
	end[240] = '\0';
	daemon_start(&test_session.daemon, path, NULL);
	assert_int_equal(actor_attach(&host, path, "host", NULL), 0);
	assert_int_equal(actor_attach(&dpu, path, "dpu", NULL), 0);
	assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &key), 0);
	assert_int_equal(actor_import(&dpu, &key), 0);
	assert_int_equal(actor_read(&dpu, &key), 0);
	actor_detach(&dpu);
	actor_detach(&host);
	daemon_stop(&test_session.daemon);
	assert_int_equal(proc_num_files(path), 0);
}

static void test_a_topology_that_is_wrong_leaves_nothing_behind(void **state)
{
	char path[128], wrong[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/session", test_session.dir);
	snprintf(wrong, sizeof(wrong), "%s/wrong.yaml", test_session.dir);
	file = fopen(wrong, "w");
	assert_non_null(file);
	fputs("cards: 7\n", file);
	fclose(file);
	daemon_try(&test_session.daemon, path, wrong);
	assert_int_equal(daemon_result(&test_session.daemon), -EINVAL);
	daemon_try(&test_session.daemon, path, "/no/such/file");
	assert_int_equal(daemon_result(&test_session.daemon), -ENOENT);
	assert_int_equal(proc_num_files(test_session.dir), 1); /* wrong.yaml itself */
	daemon_try(&test_session.daemon, test_session.dir, wrong);
	assert_int_equal(daemon_result(&test_session.daemon), -EINVAL);
	assert_int_equal(proc_num_files(test_session.dir), 1);
}

static void test_a_second_daemon_is_refused_and_does_no_harm(void **state)
{
	struct proc second;
	struct actor_key key;

	daemon_try(&second, test_session.dir, NULL);
	assert_int_equal(daemon_result(&second), -EBUSY);
	assert_int_equal(actor_export(&host, ACTOR_ANONYMOUS, &key), 0);
	assert_int_equal(actor_import(&dpu, &key), 0);
	end_pair();
}

/* Daemons that start at once on a directory that does not exist: exactly one of them gets it. */
static void test_of_daemons_that_race_for_a_directory_one_wins(void **state)
{
	enum { RACERS = 6, ROUNDS = 10 };
	char path[128];

	snprintf(path, sizeof(path), "%s/session", test_session.dir);
	for (int round = 0; round < ROUNDS; round++) {
		struct proc racers[RACERS];
		int winner = -1;

		for (int i = 0; i < RACERS; i++)
			daemon_try(&racers[i], path, NULL);
		for (int i = 0; i < RACERS; i++) {
			char reply[sizeof(int)];

			/* One byte: ready. Four bytes: the error. */
			assert_true(proc_readable_within(racers[i].ctl, PROC_DEADLINE_MS));
			if (recv(racers[i].ctl, reply, sizeof(reply), MSG_PEEK) == 1) {
				assert_int_equal(winner, -1);
				winner = i;
				proc_recv(racers[i].ctl, reply, 1);
			} else {
				assert_int_equal(daemon_result(&racers[i]), -EBUSY);
			}
		}
		assert_in_range(winner, 0, RACERS - 1);
		assert_int_equal(actor_attach(&host, path, "host", NULL), 0);
		actor_detach(&host);
		daemon_stop(&racers[winner]);
		assert_int_equal(proc_num_files(path), 0);
	}
}

/* A process that attaches while sessions start and end gets the running session's topology or an error. */
static void test_a_new_daemon_may_have_another_topology(void **state)
{
	static const char other[] = "cards:\n- profile: bluefield-3\n  functions:\n"
				    "  - {side: node1/dpu, type: pf, pci: \"03:00.0\"}\n"
				    "  - {side: node1/host, type: pf, pci: \"b1:00.0\"}\n";
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/other.yaml", test_session.dir);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(other, file);
	fclose(file);
	daemon_start(&test_session.daemon, test_session.dir, NULL);
	assert_int_equal(actor_attach(&host, test_session.dir, "host", NULL), 0);
	proc_signal(&test_session.daemon, SIGKILL); /* its files stay */
	daemon_start(&test_session.daemon, test_session.dir, path);
	assert_int_equal(actor_attach(&dpu, test_session.dir, "dpu", NULL), -ENOENT);
	proc_end(&dpu.proc);
	assert_int_equal(actor_attach(&dpu, test_session.dir, "node1/dpu", NULL), 0);
	actor_detach(&dpu);
	actor_detach(&host);
	daemon_stop(&test_session.daemon);
}

#define TEST(name, setup) cmocka_unit_test_setup_teardown(name, setup, session_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_is_exported_is_read_and_written_by_the_other_side, setup_pair),
		TEST(test_memory_in_a_shared_object_is_mapped, setup_pair),
		TEST(test_an_exporter_that_computes_is_read_as_well, setup_pair),
		TEST(test_a_forced_path_is_used_or_nothing, setup_pair),
		TEST(test_ended_exports_fail_and_cannot_be_imported_again, setup_pair),
		TEST(test_an_export_ends_only_when_a_running_copy_is_out, setup_pair),
		TEST(test_a_reader_sees_all_of_the_memory_or_an_error, setup_pair),
		TEST(test_a_descriptor_of_another_session_is_refused, setup_pair),
		TEST(test_sixty_four_processes_reach_each_others_memory, session_dir_setup),
		TEST(test_attaching_takes_one_request_and_one_reply, session_dir_setup),
		TEST(test_signals_of_the_application_do_not_disturb_attaching, session_setup),
		TEST(test_a_side_that_the_card_lacks_is_refused, session_setup),
		TEST(test_without_a_session_there_is_nothing_to_attach_to, session_dir_setup),
		TEST(test_a_session_may_have_a_long_name, session_dir_setup),
		TEST(test_a_topology_that_is_wrong_leaves_nothing_behind, session_dir_setup),
		TEST(test_a_second_daemon_is_refused_and_does_no_harm, setup_pair),
		TEST(test_of_daemons_that_race_for_a_directory_one_wins, session_dir_setup),
		TEST(test_a_new_daemon_may_have_another_topology, session_dir_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
