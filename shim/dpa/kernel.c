/* SPDX-License-Identifier: BSD-3-Clause */
/* RPCs and kernel launches. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "dpa_priv.h"
#include "shim/common/sync/sync_event_dpa.h"

/* The kernel of a host stub; NULL after a log line. */
static const struct sim_dpa_kernel *find_kernel(const char *func, const struct doca_dpa *dpa, doca_dpa_func_t *stub,
						bool is_rpc)
{
	const struct sim_dpa_image *image = sim_dpa_process_image(dpa->process);
	const struct sim_dpa_kernel *kernel = sim_dpa_image_find_kernel(image, (const void *)(uintptr_t)stub);

	if (!kernel) {
		sim_err("%s: the function is no kernel of the application %s", func, sim_dpa_image_name(image));
		return NULL;
	}
	if (kernel->is_rpc == is_rpc)
		return kernel;
	sim_err("%s: %s is %s", func, kernel->name,
		is_rpc ? "marked __dpa_global__, which RPCs can't call" : "marked __dpa_rpc__, which only RPCs call");
	return NULL;
}

/* Read the arguments of a call. The caller frees the block. NULL = no memory. */
static void *pack(const struct sim_dpa_kernel *kernel, va_list *list)
{
	void *args = calloc(1, kernel->args_bytes + sizeof(uint64_t));

	if (args)
		kernel->pack(args, list);
	return args;
}

doca_error_t doca_dpa_rpc(struct doca_dpa *dpa, doca_dpa_func_t *func, uint64_t *retval, ...)
{
	const struct sim_dpa_kernel *kernel;
	doca_error_t result;
	va_list list;
	void *args;
	int rc;

	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(func);
	SHIM_NEED_OUT(retval);
	result = shim_dpa_check_running(__func__, dpa);
	if (result != DOCA_SUCCESS)
		return result;
	kernel = find_kernel(__func__, dpa, func, true);
	if (!kernel)
		return DOCA_ERROR_INVALID_VALUE;
	result = dpa_inject(dpa, SIM_OP_DPA_RPC, 0);
	if (result != DOCA_SUCCESS)
		return result;
	va_start(list, retval);
	args = pack(kernel, &list);
	va_end(list);
	if (!args)
		return DOCA_ERROR_DRIVER;
	rc = sim_dpa_process_call(dpa->process, kernel, args, retval);
	free(args);
	return dpa_error(__func__, rc);
}

/* ---- launches ---- */

struct launch {
	struct doca_sync_event *wait_event, *comp_event; /* NULL = none */
	uint64_t threshold, count;
	bool is_add;
};

static int check_wait(int rc)
{
	if (rc < 0 && rc != -ECANCELED && rc != -EAGAIN)
		sim_err("a kernel launch waits for a sync event that was stopped or destroyed; the launch is dropped");
	return rc;
}

static int wait_for_event(void *arg, const atomic_bool *is_over)
{
	struct launch *launch = arg;

	if (!launch->wait_event)
		return atomic_load(is_over) ? -ECANCELED : 0;
	return check_wait(shim_sync_event_dpa_wait(launch->wait_event, launch->threshold, is_over));
}

static int poll_event(void *arg)
{
	struct launch *launch = arg;

	return launch->wait_event ? check_wait(shim_sync_event_dpa_poll(launch->wait_event, launch->threshold)) : 0;
}

static void end_launch(void *arg, bool has_run)
{
	struct launch *launch = arg;
	int rc = 0;

	if (has_run && launch->comp_event && !shim_object_is(launch->comp_event, SHIM_SYNC_EVENT))
		rc = -ENOTCONN;
	else if (has_run && launch->comp_event)
		rc = launch->is_add ? shim_sync_event_dpa_add(launch->comp_event, launch->count) :
				      shim_sync_event_dpa_set(launch->comp_event, launch->count);
	if (rc < 0)
		sim_err("a kernel launch has ended whose completion event was stopped or destroyed");
	free(launch);
}

static const struct sim_dpa_launch_ops launch_ops = { .wait = wait_for_event, .poll = poll_event, .end = end_launch };

static doca_error_t check_launch(const char *func, struct doca_dpa *dpa, const struct launch *launch,
				 unsigned int num_threads)
{
	unsigned int max = dpa_caps(dpa)->dpa_max_launch_threads;

	if (launch->wait_event && !shim_handle_is(launch->wait_event, SHIM_SYNC_EVENT)) {
		sim_err("%s: wait_event is no live sync event", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (launch->comp_event && !shim_handle_is(launch->comp_event, SHIM_SYNC_EVENT)) {
		sim_err("%s: comp_event is no live sync event", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (num_threads == 0 || num_threads > max) {
		sim_err("%s: %u threads; give 1 to %u (doca_dpa_get_max_threads_per_kernel)", func, num_threads, max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return shim_dpa_check_running(func, dpa);
}

static doca_error_t launch_kernel(const char *func, struct doca_dpa *dpa, const struct launch *cfg,
				  unsigned int num_threads, doca_dpa_func_t *stub, va_list *list)
{
	doca_error_t result = check_launch(func, dpa, cfg, num_threads);
	const struct sim_dpa_kernel *kernel;
	struct launch *launch;
	bool is_lost;
	void *args;
	int rc = -ENOMEM;

	if (result != DOCA_SUCCESS)
		return result;
	kernel = find_kernel(func, dpa, stub, false);
	if (!kernel)
		return DOCA_ERROR_INVALID_VALUE;
	result = dpa_inject_launch(dpa, &is_lost);
	if (result != DOCA_SUCCESS || is_lost)
		return result;
	args = pack(kernel, list);
	launch = malloc(sizeof(*launch));
	if (args && launch) {
		*launch = *cfg;
		rc = sim_dpa_process_launch(dpa->process, kernel, args, num_threads, &launch_ops, launch);
	}
	free(args);
	if (rc < 0)
		free(launch);
	return rc == -ENOMEM ? DOCA_ERROR_DRIVER : dpa_error(func, rc);
}

#define DEFINE_LAUNCH(function_name, is_add_)                                                                         \
	doca_error_t function_name(struct doca_dpa *dpa, struct doca_sync_event *wait_event, uint64_t wait_threshold, \
				   struct doca_sync_event *comp_event, uint64_t comp_count, unsigned int num_threads, \
				   doca_dpa_func_t *func, ...)                                                        \
	{                                                                                                             \
		const struct launch cfg = { wait_event, comp_event, wait_threshold, comp_count, (is_add_) };          \
		doca_error_t result;                                                                                  \
		va_list list;                                                                                         \
                                                                                                                      \
		SHIM_NEED(dpa, SHIM_DPA);                                                                             \
		SHIM_NEED_OUT(func);                                                                                  \
		va_start(list, func);                                                                                 \
		result = launch_kernel(__func__, dpa, &cfg, num_threads, func, &list);                                \
		va_end(list);                                                                                         \
		return result;                                                                                        \
	}

DEFINE_LAUNCH(doca_dpa_kernel_launch_update_set, false)
DEFINE_LAUNCH(doca_dpa_kernel_launch_update_add, true)
