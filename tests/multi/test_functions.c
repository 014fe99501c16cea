/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that are reset, fail, are removed and added while a program uses them, and links that are down or
 * degraded, through the public headers. Each test runs in a process of its own: in a session, or, with
 * CARD=private, on its private card. */
#include "bfsim_util.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static uint32_t num_devs(void)
{
	struct doca_devinfo **list;
	uint32_t count;

	MUST(doca_devinfo_create_list(&list, &count));
	MUST(doca_devinfo_destroy_list(list));
	return count;
}

static doca_error_t open_first(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	doca_error_t result;
	uint32_t count;

	MUST(doca_devinfo_create_list(&list, &count));
	result = doca_dev_open(list[0], &dev);
	MUST(doca_devinfo_destroy_list(list));
	if (result == DOCA_SUCCESS)
		MUST(doca_dev_close(dev));
	return result;
}

static void need_copy(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	rig_submit_small(rig, 0);
	rig_drain(rig);
	CHECK(rig_small_is_done(rig, 0));
	rig_close(rig);
}

static void test_reset_fails_what_is_in_flight_and_the_device_must_be_opened_again(void)
{
	struct doca_dma_task_memcpy *late;
	const void *descriptor;
	struct rig *rig;
	size_t len;

	card_begin("dpu", NULL, NULL);
	rig = rig_start(rig_open(NULL));
	NEED_OK(bfsim_fault_add("dma.memcpy nth=1 hang", NULL));
	rig_submit_small(rig, 1);
	late = rig_memcpy(rig, 2, rig_src(rig, 0, 64), rig_dst(rig, 64, 64));
	card_inject("function device=03:00.0 reset");
	CHECK(doca_task_submit(doca_dma_task_memcpy_as_task(late)) == DOCA_ERROR_BAD_STATE);
	doca_task_free(doca_dma_task_memcpy_as_task(late));
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	CHECK(!strcmp(rig->trace->text,
		      "running -> stopping\ntask 1 failed: DOCA_ERROR_IO_FAILED\nstopping -> idle\n"));
	CHECK(rig_is_untouched(rig, rig_small_to(rig, 1), 64));
	CHECK(doca_ctx_start(rig->ctx) == DOCA_ERROR_INITIALIZATION);
	CHECK(doca_mmap_export_pci(rig->mmap, rig->dev, &descriptor, &len) != DOCA_SUCCESS);
	need_copy(); /* by another handle, although the old one is still open */
	rig_close(rig);
	need_copy();
	card_end();
}

static void test_other_functions_go_on(void)
{
	struct rig *rig;

	card_begin("dpu", NULL, NULL);
	rig = rig_start(rig_open(NULL));
	card_inject("function device=03:00.1 reset");
	card_inject("function side=host remove");
	rig_submit_small(rig, 1);
	rig_drain(rig);
	CHECK(rig_small_is_done(rig, 1));
	CHECK(rig_state(rig) == DOCA_CTX_STATE_RUNNING);
	rig_close(rig);
	card_end();
}

static void test_sleeper_wakes_when_its_function_is_reset(void)
{
	doca_notification_handle_t handle;
	struct rig *rig;

	card_begin("dpu", NULL, NULL);
	rig = rig_start(rig_open(NULL));
	MUST(doca_pe_get_notification_handle(rig->pe, &handle));
	MUST(doca_pe_request_notification(rig->pe));
	CHECK(!rig_is_readable(handle));
	card_inject("function device=mlx5_0 reset");
	CHECK(rig_wait_readable(handle));
	MUST(doca_pe_clear_notification(rig->pe, handle));
	CHECK(doca_pe_progress(rig->pe) == 1);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	rig_close(rig);
	card_end();
}

/* The rule is evaluated but changes nothing, so it does not count as a hit. */
static void need_no_hit(const char *rule)
{
	struct bfsim_fault fault;
	uint32_t id;

	NEED_OK(bfsim_fault_add(rule, &id));
	NEED_OK(bfsim_fault_seed(0)); /* the daemon has looked at it by then */
	NEED_OK(bfsim_fault_get(id, &fault));
	CHECK(fault.matched > 0 && fault.fired == 0);
}

static void test_rule_does_not_hit_a_function_that_is_already_so(void)
{
	card_begin("host", TOPOLOGY, NULL);
	CHECK(num_devs() == 7);
	need_no_hit("function device=b1:00.0 add");
	need_no_hit("function device=b1:00.0 num_vfs=2");
	card_inject("function device=b1:00.0 num_vfs=0");
	need_no_hit("function device=b1:00.0 num_vfs=0");
	card_inject("function device=b1:00.0 add"); /* since its VFs do not exist */
	card_inject("function device=b1:00.0 rep_remove");
	need_no_hit("function device=b1:00.0 rep_remove");
	card_inject("link device=b1:00.0 fatal");
	need_no_hit("link device=b1:00.0 fatal");
	card_inject("function device=b1:00.0 add");
	card_inject("function device=b1:00.0 remove");
	need_no_hit("function device=b1:00.0 remove");
	need_no_hit("function device=b1:00.0 reset");
	need_no_hit("link device=b1:00.0 fatal");
	CHECK(num_devs() == 2);
	card_end();
}

static void test_removed_function_is_not_listed_until_it_is_added(void)
{
	struct doca_devinfo **old;
	struct doca_dev *dev;
	uint32_t before;
	struct rig *rig;

	card_begin("dpu", NULL, NULL);
	MUST(doca_devinfo_create_list(&old, &before));
	rig = rig_start(rig_open(NULL));
	card_inject("function device=03:00.0 remove");
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	CHECK(num_devs() == before - 1);
	CHECK(doca_dev_open(old[0], &dev) == DOCA_ERROR_NOT_CONNECTED);
	need_no_hit("function device=03:00.0 reset"); /* of no device */
	CHECK(doca_dev_open(old[0], &dev) == DOCA_ERROR_NOT_CONNECTED);
	card_inject("function device=03:00.0 add");
	CHECK(num_devs() == before);
	CHECK(doca_ctx_start(rig->ctx) == DOCA_ERROR_INITIALIZATION); /* of an earlier device */
	rig_close(rig);
	need_copy();
	MUST(doca_devinfo_destroy_list(old));
	card_end();
}

static void test_function_that_failed_is_of_no_use_before_it_is_reset(void)
{
	struct rig *rig;

	card_begin("dpu", NULL, NULL);
	rig = rig_start(rig_open(NULL));
	card_inject("link device=03:00.0 fatal");
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	rig_close(rig);
	CHECK(num_devs() == 2);
	CHECK(open_first() == DOCA_ERROR_NOT_CONNECTED);
	card_inject("function device=03:00.0 reset");
	CHECK(open_first() == DOCA_SUCCESS);
	need_copy();
	card_end();
}

static uint32_t num_reps(struct doca_dev *dev, bool open_last)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep;
	uint32_t count;

	MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count));
	if (open_last) {
		card_inject("function device=b1:00.0 rep_remove");
		CHECK(doca_dev_rep_open(list[0], &rep) == DOCA_ERROR_INVALID_VALUE);
	}
	MUST(doca_devinfo_rep_destroy_list(list));
	return count;
}

static void test_removed_representor_is_not_listed_until_its_function_is_added(void)
{
	struct doca_dev *dev;
	uint32_t before;

	card_begin("dpu", NULL, NULL);
	dev = rig_open_dev(0);
	before = num_reps(dev, true);
	CHECK(num_reps(dev, false) == before - 1);
	card_inject("function device=b1:00.0 add");
	CHECK(num_reps(dev, false) == before);
	MUST(doca_dev_close(dev));
	card_end();
}

/* The first PF has two VFs, the second one; the first has two SFs. */
static void test_pf_has_the_number_of_vfs_that_was_set(void)
{
	card_begin("host", TOPOLOGY, NULL);
	CHECK(num_devs() == 7);
	card_inject("function device=b1:00.0 num_vfs=0"); /* the rule matches its SFs too, which have no VFs */
	CHECK(num_devs() == 5);
	card_inject("function device=b1:00.0 num_vfs=1");
	CHECK(num_devs() == 6);
	card_inject("function device=b1:00.0 num_vfs=9");
	CHECK(num_devs() == 7);
	card_end();
}

static void test_pf_takes_its_vfs_and_sfs_with_it(void)
{
	card_begin("host", TOPOLOGY, NULL);
	CHECK(num_devs() == 7);
	card_inject("function device=b1:00.0 remove");
	CHECK(num_devs() == 2);
	card_inject("function device=b1:00.0 add");
	CHECK(num_devs() == 7);
	card_end();
}

/* ---- links ---- */

static uint64_t copy_ns(struct rig *rig, uint64_t number)
{
	uint64_t from_ns = bfsim_now_ns();

	rig_submit_small(rig, number);
	rig_drain(rig);
	CHECK(rig_small_is_done(rig, number));
	return bfsim_now_ns() - from_ns;
}

#define DOWN_NS 300000000 /* length of "down=300ms" */

/* A rule on any function takes down the card's link. Transfers under way complete; tasks submitted afterwards wait,
 * and continue when the link is up. */
static void test_copies_wait_while_the_link_is_down(void)
{
	uint64_t up_ns;
	struct rig *rig;

	card_begin("dpu", NULL, NULL);
	rig = rig_start(rig_open(NULL));
	copy_ns(rig, 1);
	up_ns = bfsim_now_ns() + DOWN_NS; /* at the earliest */
	card_inject("link device=b1:00.1 down=300ms");
	copy_ns(rig, 2);
	CHECK(bfsim_now_ns() >= up_ns);
	for (uint64_t number = 3; number < 103; number++)
		copy_ns(rig, number);
	CHECK(rig_state(rig) == DOCA_CTX_STATE_RUNNING);
	CHECK(bfsim_now_ns() - up_ns < 60 * UINT64_C(1000000000)); /* no copy waited as long again */
	rig_close(rig);
	card_end();
}

static void test_sleeper_wakes_when_the_link_is_up(void)
{
	doca_notification_handle_t handle;
	uint64_t up_ns;
	struct rig *rig;

	card_begin("dpu", NULL, NULL);
	rig = rig_start(rig_open(NULL));
	MUST(doca_pe_get_notification_handle(rig->pe, &handle));
	up_ns = bfsim_now_ns() + DOWN_NS;
	card_inject("link side=dpu down=300ms");
	MUST(doca_pe_clear_notification(rig->pe, handle));
	rig_submit_small(rig, 1);
	MUST(doca_pe_request_notification(rig->pe));
	CHECK(rig_wait_readable(handle));
	CHECK(bfsim_now_ns() >= up_ns);
	MUST(doca_pe_clear_notification(rig->pe, handle));
	rig_drain(rig);
	rig_close(rig);
	card_end();
}

static void test_copies_behind_a_long_wait_end_with_the_function(void)
{
	struct doca_task *refused;
	struct rig *rig;

	card_begin("dpu", NULL, NULL);
	rig = rig_start(rig_open(NULL));
	card_inject("link down=3600s");
	NEED_OK(bfsim_fault_add("dma.memcpy nth=1 refuse", NULL));
	refused = rig_small_task(rig, 1);
	CHECK(doca_task_submit(refused) == DOCA_ERROR_AGAIN);
	doca_task_free(refused);
	rig_submit_small(rig, 2);
	for (int i = 0; i < 1000; i++)
		CHECK(doca_pe_progress(rig->pe) == 0);
	card_inject("function device=03:00.0 reset"); /* a wait that never became due ends as well */
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	rig_close(rig);
	card_end();
}

/* Copies on the host cross the link twice; a Gen1 x1 link carries 250 MB/s, a Gen5 x16 one 63 GB/s. */
static void test_degraded_link_makes_copies_slower_in_virtual_time(void)
{
	uint64_t trained_ns, degraded_ns, damaged_ns;
	struct rig *rig;

	card_begin("host", NULL, "virtual");
	rig = rig_start(rig_open(NULL));
	trained_ns = copy_ns(rig, 1);
	card_inject("link device=b1:00.0 degrade=gen1x1");
	degraded_ns = copy_ns(rig, 2);
	CHECK(degraded_ns > trained_ns);
	card_inject("link device=03:00.0 errors=90%");
	damaged_ns = copy_ns(rig, 3);
	CHECK(damaged_ns > degraded_ns);
	card_inject("link device=03:00.0 down=2ms");
	CHECK(copy_ns(rig, 4) >= 2000000);
	CHECK(copy_ns(rig, 5) < 2 * damaged_ns); /* the outage is over */
	rig_close(rig);
	card_end();
}

/* In virtual time the same copy over the same link takes equally long, when it is no longer busy with those before. */
static uint64_t settled_ns(struct rig *rig)
{
	for (int i = 0; i < 8; i++)
		copy_ns(rig, 1);
	return copy_ns(rig, 1);
}

static void test_rule_that_is_taken_out_gives_the_link_back(void)
{
	uint64_t trained_ns, degraded_ns, damaged_ns;
	uint32_t degrade, errors, down;
	struct rig *rig;

	card_begin("host", NULL, "virtual");
	rig = rig_start(rig_open(NULL));
	trained_ns = settled_ns(rig);
	degrade = card_inject("link device=b1:00.0 degrade=gen1x1");
	degraded_ns = settled_ns(rig);
	errors = card_inject("link errors=90%");
	damaged_ns = settled_ns(rig);
	CHECK(trained_ns < degraded_ns && degraded_ns < damaged_ns);
	NEED_OK(bfsim_fault_remove(errors));
	CHECK(settled_ns(rig) == degraded_ns);
	NEED_OK(bfsim_fault_remove(degrade));
	CHECK(settled_ns(rig) == trained_ns);
	card_inject("link degrade=gen1x1 errors=90%");
	down = card_inject("link down=3600s");
	NEED_OK(bfsim_fault_remove(down));
	CHECK(settled_ns(rig) == damaged_ns);
	NEED_OK(bfsim_fault_clear());
	CHECK(settled_ns(rig) == trained_ns);
	rig_close(rig);
	card_end();
}

/* A rule that was removed before it was 3600 s old: copies that are submitted then do not wait. */
static void test_link_is_up_when_the_rule_is_taken_out(void)
{
	struct rig *rig;

	card_begin("dpu", NULL, NULL);
	rig = rig_start(rig_open(NULL));
	NEED_OK(bfsim_fault_remove(card_inject("link down=3600s")));
	copy_ns(rig, 1);
	rig_close(rig);
	card_end();
}

/* Both begin at once: the slow link is over after 1 ms of session time, the damaged one is not. */
static void test_rules_of_a_link_end_each_at_its_time(void)
{
	uint64_t both_ns, damaged_ns;
	struct rig *rig;

	card_begin("host", NULL, "virtual");
	if (!card_is_private())                                       /* the card evaluates rules at these calls */
		NEED_OK(bfsim_fault_add("daemon pause=100ms", NULL)); /* the next two events are delivered together */
	NEED_OK(bfsim_fault_add("link degrade=gen1x1 until=1ms", NULL));
	NEED_OK(bfsim_fault_add("link errors=99%", NULL));
	NEED_OK(bfsim_fault_seed(0));
	rig = rig_start(rig_open(NULL));
	both_ns = copy_ns(rig, 1);
	NEED_OK(bfsim_fault_add("dma.memcpy nth=1 delay=2ms", NULL));
	copy_ns(rig, 1);
	damaged_ns = copy_ns(rig, 1);
	CHECK(damaged_ns < both_ns);
	NEED_OK(bfsim_fault_clear());
	CHECK(copy_ns(rig, 1) < damaged_ns);
	rig_close(rig);
	card_end();
}

static void test_forked_child_sees_the_same_functions(void)
{
	pid_t pid;

	card_begin("dpu", NULL, NULL);
	need_copy();
	card_inject("function device=03:00.1 remove");
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		CHECK(num_devs() == 1);
		need_copy();
		card_inject("function device=03:00.0 reset");
		need_copy();
		_exit(0);
	}
	wait_well(pid);
	need_copy();
	card_end();
}

int main(void)
{
	static const struct own_test tests[] = {
		OWN_TEST(test_reset_fails_what_is_in_flight_and_the_device_must_be_opened_again),
		OWN_TEST(test_other_functions_go_on),
		OWN_TEST(test_sleeper_wakes_when_its_function_is_reset),
		OWN_TEST(test_rule_does_not_hit_a_function_that_is_already_so),
		OWN_TEST(test_removed_function_is_not_listed_until_it_is_added),
		OWN_TEST(test_function_that_failed_is_of_no_use_before_it_is_reset),
		OWN_TEST(test_removed_representor_is_not_listed_until_its_function_is_added),
		OWN_TEST(test_pf_has_the_number_of_vfs_that_was_set),
		OWN_TEST(test_pf_takes_its_vfs_and_sfs_with_it),
		OWN_TEST(test_copies_wait_while_the_link_is_down),
		OWN_TEST(test_sleeper_wakes_when_the_link_is_up),
		OWN_TEST(test_copies_behind_a_long_wait_end_with_the_function),
		OWN_TEST(test_degraded_link_makes_copies_slower_in_virtual_time),
		OWN_TEST(test_rule_that_is_taken_out_gives_the_link_back),
		OWN_TEST(test_link_is_up_when_the_rule_is_taken_out),
		OWN_TEST(test_rules_of_a_link_end_each_at_its_time),
		OWN_TEST(test_forked_child_sees_the_same_functions),
	};

	return OWN_RUN(tests);
}
