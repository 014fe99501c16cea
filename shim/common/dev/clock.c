/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks of the card and of the host (doca_clock.h). */
#include <doca_clock.h>

#include "shim/common/base/check.h"
#include "sim/base/monotonic.h"
#include "dev_priv.h"
#include "shim/common/process/runtime.h"

struct doca_clock {
	struct shim_object object;
	struct doca_dev *dev;
};

SHIM_DEFINE_IS_SUPPORTED(doca_clock_cap_nic_free_running_is_supported, true)
SHIM_DEFINE_IS_SUPPORTED(doca_clock_cap_nic_real_time_is_supported, true)
SHIM_DEFINE_IS_SUPPORTED(doca_clock_cap_nic_dpa_timer_is_supported, devinfo->function->caps.dpa)

doca_error_t doca_clock_create(const struct doca_dev *dev, struct doca_clock **clock)
{
	struct doca_clock *created;

	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(clock);
	created = shim_object_new(SHIM_CLOCK, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->dev = (struct doca_dev *)(uintptr_t)dev; /* to hold it */
	shim_dev_hold(created->dev);
	*clock = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_clock_destroy(struct doca_clock *clock)
{
	SHIM_NEED(clock, SHIM_CLOCK);
	shim_dev_release(clock->dev);
	shim_object_free(clock, SHIM_CLOCK);
	return DOCA_SUCCESS;
}

static uint64_t read_system_clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * SIM_NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t read_cycle_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t count;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
	return count;
#else
	return read_system_clock_ns(CLOCK_MONOTONIC_RAW);
#endif
}

static uint64_t read_free_running_ns(void)
{
	return sim_session_now_ns(shim_session());
}

uint64_t shim_nic_real_time_ns(void)
{
	bool is_virtual = sim_clock_mode(sim_session_clock(shim_session())) == SIM_CLOCK_VIRTUAL;

	return is_virtual ? read_free_running_ns() : read_system_clock_ns(CLOCK_REALTIME);
}

static bool is_nic_clock(uint64_t type)
{
	return type == DOCA_CLOCK_NIC_FREE_RUNNING || type == DOCA_CLOCK_NIC_REAL_TIME ||
	       type == DOCA_CLOCK_NIC_DPA_TIMER;
}

/* Set *ret_value to nanoseconds or cycles. Returns false if there is no clock of @type. */
static bool read_clock(const struct doca_clock *clock, uint64_t type, uint64_t *ret_value)
{
	switch (type) {
	case DOCA_CLOCK_NIC_DPA_TIMER:
		*ret_value = shim_nic_real_time_ns();
		return shim_dev_function(clock->dev)->caps.dpa;
	case DOCA_CLOCK_NIC_FREE_RUNNING:
		*ret_value = read_free_running_ns();
		return true;
	case DOCA_CLOCK_NIC_REAL_TIME:
		*ret_value = shim_nic_real_time_ns();
		return true;
	case DOCA_CLOCK_HOST_COUNTER_CYCLES:
		*ret_value = read_cycle_counter();
		return true;
	case DOCA_CLOCK_HOST_REAL_TIME:
		*ret_value = read_system_clock_ns(CLOCK_REALTIME);
		return true;
	case DOCA_CLOCK_HOST_MONOTONIC:
		*ret_value = read_system_clock_ns(CLOCK_MONOTONIC);
		return true;
	case DOCA_CLOCK_HOST_MONOTONIC_RAW:
		*ret_value = read_system_clock_ns(CLOCK_MONOTONIC_RAW);
		return true;
	default:
		return false;
	}
}

static void store_timestamp(uint64_t type, uint64_t value, union doca_clock_timespec_t *ret)
{
	if (type == DOCA_CLOCK_HOST_COUNTER_CYCLES)
		ret->counter = value;
	else
		ret->ts = sim_timespec_from_ns(value);
}

#define REFUSE_TYPE(type)                                                                     \
	SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "the card has no clock %#llx (DOCA_CLOCK_...)", \
		    (unsigned long long)(type))

doca_error_t doca_clock_get_timestamp(const struct doca_clock *clock, uint64_t clock_type,
				      union doca_clock_timespec_t *clock_ts)
{
	uint64_t value;

	SHIM_NEED(clock, SHIM_CLOCK);
	SHIM_NEED_OUT(clock_ts);
	if (!read_clock(clock, clock_type, &value))
		return REFUSE_TYPE(clock_type);
	store_timestamp(clock_type, value, clock_ts);
	return DOCA_SUCCESS;
}

/* Read both clocks: the primary one before and behind the other. If both are the same NIC clock, one read does. */
static bool read_cross_timestamp(const struct doca_clock *clock, uint64_t primary_type, uint64_t nic_type,
				 uint64_t *ret_primary, uint64_t *ret_nic, uint64_t *ret_margin)
{
	uint64_t before, after;

	if (!read_clock(clock, primary_type, &before) || !read_clock(clock, nic_type, ret_nic) ||
	    !read_clock(clock, primary_type, &after))
		return false;
	*ret_margin = 0;
	*ret_primary = before;
	if (is_nic_clock(primary_type) && primary_type == nic_type) {
		*ret_primary = *ret_nic;
	} else if (after > before) {
		*ret_margin = (after - before + 1) / 2;
		*ret_primary = before + (after - before) / 2;
	}
	return true;
}

doca_error_t doca_clock_get_crosstimestamp(const struct doca_clock *clock, uint64_t primary_clock_type,
					   uint64_t nic_clock_type, union doca_clock_timespec_t *primary_clock_ts,
					   union doca_clock_timespec_t *nic_clock_ts, uint64_t *error_margin_nsecs)
{
	uint64_t primary, nic, margin;

	SHIM_NEED(clock, SHIM_CLOCK);
	SHIM_NEED_OUT(primary_clock_ts);
	SHIM_NEED_OUT(nic_clock_ts);
	SHIM_NEED_OUT(error_margin_nsecs);
	if (!is_nic_clock(nic_clock_type))
		return REFUSE_TYPE(nic_clock_type);
	if (!read_cross_timestamp(clock, primary_clock_type, nic_clock_type, &primary, &nic, &margin))
		return REFUSE_TYPE(primary_clock_type);
	store_timestamp(primary_clock_type, primary, primary_clock_ts);
	store_timestamp(nic_clock_type, nic, nic_clock_ts);
	*error_margin_nsecs = margin;
	return DOCA_SUCCESS;
}
