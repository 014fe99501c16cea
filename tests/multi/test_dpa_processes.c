/* SPDX-License-Identifier: BSD-3-Clause */
/* Two processes with kernels, on both sides or on one: RDMA between the kernels, both ways at once; and the end of one process. */
#include <signal.h>
#include <stdlib.h>

#include "cmocka_test.h"
#include "doca_check.h"
#include "dpa_end.h"
#include "session_util.h"

struct role {
	const char *side, *text, *peers_text;
};

static void open_and_connect(int ctl, const struct role *role, struct dpa_end *end)
{
	struct dpa_offer offer = { 0 };
	char go;

	setenv("BFSIM_SIDE", role->side, 1);
	dpa_end_open(end, &offer);
	proc_send(ctl, &offer, sizeof(offer));
	proc_recv(ctl, &offer, sizeof(offer));
	dpa_end_connect(end, &offer);
	proc_send(ctl, "r", 1);
	proc_recv(ctl, &go, 1);
}

static void run(int ctl, const void *arg)
{
	const struct role *role = arg;
	struct dpa_end end = { 0 };
	char go;

	open_and_connect(ctl, role, &end);
	dpa_end_exchange(&end, role->text);
	dpa_end_check_memory(&end, role->peers_text);
	proc_send(ctl, "d", 1);
	proc_recv(ctl, &go, 1);
	dpa_end_close(&end);
}

/* The peer has been killed. */
static void run_on(int ctl, const void *arg)
{
	const struct role *role = arg;
	struct dpa_end end = { 0 };
	char go;

	open_and_connect(ctl, role, &end);
	proc_send(ctl, "d", 1);
	proc_recv(ctl, &go, 1);
	dpa_end_post_send(&end);
	CHECK(dpa_end_wait_one(&end).type >= DPA_SEND_FAILED); /* the receive is flushed, too */
	dpa_end_close(&end);
}

/* ---- the test ---- */

static void introduce(struct proc procs[2])
{
	struct dpa_offer offers[2];
	char ready;

	for (int i = 0; i < 2; i++)
		proc_recv(procs[i].ctl, &offers[i], sizeof(offers[i]));
	for (int i = 0; i < 2; i++)
		proc_send(procs[i].ctl, &offers[1 - i], sizeof(offers[0]));
	for (int i = 0; i < 2; i++)
		proc_recv(procs[i].ctl, &ready, 1);
	for (int i = 0; i < 2; i++)
		proc_send(procs[i].ctl, "g", 1);
}

static void expect_exchange(const struct role roles[2])
{
	struct proc procs[2];
	char done;

	for (int i = 0; i < 2; i++)
		proc_start(&procs[i], run, &roles[i]);
	introduce(procs);
	for (int i = 0; i < 2; i++)
		proc_recv(procs[i].ctl, &done, 1);
	for (int i = 0; i < 2; i++) {
		proc_send(procs[i].ctl, "e", 1);
		assert_int_equal(proc_wait(&procs[i]), 0);
	}
}

static void test_kernels_of_both_sides_exchange_at_once(void **state)
{
	static const struct role roles[2] = {
		{ .side = "host", .text = "from the host", .peers_text = "from the DPU" },
		{ .side = "dpu", .text = "from the DPU", .peers_text = "from the host" }
	};

	expect_exchange(roles);
}

static void test_kernels_of_two_processes_of_a_side_exchange(void **state)
{
	static const struct role roles[2] = { { .side = "dpu", .text = "one", .peers_text = "two" },
					      { .side = "dpu", .text = "two", .peers_text = "one" } };

	expect_exchange(roles);
}

static void test_kernel_meets_the_end_of_its_peer(void **state)
{
	static const struct role roles[2] = { { .side = "host", .text = "one" }, { .side = "dpu", .text = "two" } };
	struct proc procs[2];
	char done;

	for (int i = 0; i < 2; i++)
		proc_start(&procs[i], run_on, &roles[i]);
	introduce(procs);
	for (int i = 0; i < 2; i++)
		proc_recv(procs[i].ctl, &done, 1);
	proc_signal(&procs[0], SIGKILL);
	proc_wait(&procs[0]);
	assert_true(daemon_forgets(test_session.dir, procs[0].pid));
	proc_send(procs[1].ctl, "e", 1);
	assert_int_equal(proc_wait(&procs[1]), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, session_setup, session_stop_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(kernels_of_both_sides_exchange_at_once),
		TEST(kernels_of_two_processes_of_a_side_exchange),
		TEST(kernel_meets_the_end_of_its_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
