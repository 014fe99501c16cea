/* SPDX-License-Identifier: BSD-3-Clause */
/* Device code of test_dpa_image: kernels that end well, and in each other way; of test_dpa_completion, and of test_dpa_wait. */
#include <string.h>

#include <doca_dpa_dev.h>
#include <doca_dpa_dev_sync_event.h>
#include <dpaintrin.h>

struct pair {
	uint64_t a;
	uint32_t b;
};

typedef uint64_t(function)(uint64_t value);

static unsigned int calls;
static volatile unsigned int sink;

__dpa_rpc__ uint64_t add(uint64_t a, uint32_t b, uint8_t c, struct pair p, float f, const char letter)
{
	return a + b + c + p.a + p.b + (uint64_t)(f * 2) + (uint64_t)letter;
}

__dpa_rpc__ uint64_t count(void)
{
	return ++calls;
}

static __dpa_global__ void hello(uint64_t arg __attribute__((__unused__)))
{
	DOCA_DPA_DEV_LOG_INFO("hello %d %5u %-4s|%04x %lld %c%%\n", -1, 2u, "ab", 255u, -7ll, 'z');
}

__dpa_global__ void store_to(uint64_t addr)
{
	*(uint32_t *)addr = 7;
}

__dpa_rpc__ uint64_t load_from(uint64_t addr)
{
	return *(const uint64_t *)addr;
}

__dpa_global__ void copy_to(uint64_t addr)
{
	static const char text[40] = "text";

	memcpy((void *)addr, text, sizeof(text));
}

__dpa_global__ void loop(void)
{
	for (;;)
		sink = sink + 1;
}

__dpa_global__ void stand(void)
{
	sink = 1;
	for (;;)
		;
}

static uint64_t recurse(uint64_t depth)
{
	char room[256];

	memset(room, (int)depth, sizeof(room));
	sink = (unsigned int)depth;
	return recurse(depth + 1) + (uint64_t)room[depth % 256];
}

__dpa_rpc__ uint64_t overflow(void)
{
	return recurse(0);
}

static uint64_t recurse_and_log(uint64_t depth)
{
	char room[256];

	memset(room, (int)depth, sizeof(room));
	DOCA_DPA_DEV_LOG_INFO("deep\n");
	return recurse_and_log(depth + 1) + (uint64_t)room[depth % 256];
}

__dpa_rpc__ uint64_t overflow_and_log(void)
{
	return recurse_and_log(0);
}

__dpa_rpc__ uint64_t jump_to(uint64_t addr)
{
	return ((function *)addr)(1) + 1;
}

__dpa_rpc__ uint64_t divide(uint32_t by)
{
	return __dpa_fxp_rcp(131072) == 32768 ? 0 : by;
}

__dpa_global__ void notify(uint64_t handle)
{
	doca_dpa_dev_thread_notify(handle);
}

__dpa_global__ void finish(void)
{
	doca_dpa_dev_thread_finish();
}

/* ---- completions ---- */

/* Two decimal digits for each that waits: user data, and immediate + type. */
__dpa_rpc__ uint64_t take(uint64_t completion)
{
	doca_dpa_dev_completion_element_t element;
	uint64_t digits = 0;

	while (doca_dpa_dev_get_completion(completion, &element))
		digits = digits * 100 + 10 * doca_dpa_dev_get_completion_user_data(element) +
			 doca_dpa_dev_get_completion_immediate(element) + doca_dpa_dev_get_completion_type(element);
	return digits;
}

__dpa_global__ void give_back(uint64_t completion, uint32_t num)
{
	doca_dpa_dev_completion_ack(completion, num);
}

__dpa_rpc__ uint64_t use_after_ack(uint64_t completion)
{
	doca_dpa_dev_completion_element_t element = 0;

	doca_dpa_dev_get_completion(completion, &element);
	doca_dpa_dev_completion_ack(completion, 1);
	return doca_dpa_dev_get_completion_user_data(element);
}

__dpa_global__ void arm(uint64_t completion)
{
	doca_dpa_dev_completion_request_notification(completion);
}

__dpa_global__ void wake(uint64_t completion)
{
	static unsigned int runs;
	doca_dpa_dev_completion_element_t element;
	unsigned int num = 0;

	while (doca_dpa_dev_get_completion(completion, &element))
		num++;
	doca_dpa_dev_completion_ack(completion, num);
	DOCA_DPA_DEV_LOG_INFO("run %u took %u\n", ++runs, num);
	doca_dpa_dev_thread_reschedule();
}

/* A thread that says where it is: the test acts there. */
__dpa_global__ void rest(uint64_t completion)
{
	doca_dpa_dev_completion_element_t element;
	unsigned int num = 0;

	while (doca_dpa_dev_get_completion(completion, &element))
		num++;
	doca_dpa_dev_completion_ack(completion, num);
	DOCA_DPA_DEV_LOG_INFO("took %u\n", num);
	doca_dpa_dev_completion_request_notification(completion);
	DOCA_DPA_DEV_LOG_INFO("armed\n");
	doca_dpa_dev_thread_reschedule();
}

__dpa_global__ void wait_for_event(uint64_t event)
{
	doca_dpa_dev_sync_event_wait_gt(event, 0, UINT64_MAX);
}
