/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about the order of calls that set a context up, and about errors of such calls that a program ignored. */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "shim/check/base/check.h"
#include "shim/check/history/ctx_history.h"
#include "shim/check/report/hit.h"
#include "shim/common/mem/mmap_priv.h"
#include "sim/base/monotonic.h"

#define MAX_IGNORED 64

/* A call that failed and that later calls depend on. */
struct failed_setup {
	enum shim_function function;
	const void *object;
	doca_error_t result;
	pid_t tid;
	uint64_t failed_ns;
	struct check_stack stack;
};

static struct {
	pthread_mutex_t lock;
	uint32_t num; /* ever added; the last MAX_IGNORED are kept */
	struct failed_setup failed[MAX_IGNORED];
} setups = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The argument of the object that the function sets up, for functions that later calls depend on; else -1. */
static int setup_arg(uint32_t function)
{
	switch (function) {
	case SHIM_FN_doca_ctx_start:
	case SHIM_FN_doca_mmap_start:
		return 0;
	case SHIM_FN_doca_pe_connect_ctx:
		return 1;
	default:
		return -1;
	}
}

static void remember_setup(const struct shim_call *call, const void *object)
{
	struct failed_setup failed = { .function = call->function,
				       .object = object,
				       .result = check_result(call),
				       .tid = gettid(),
				       .failed_ns = sim_monotonic_ns() };

	check_stack_take(call->caller, &failed.stack);
	pthread_mutex_lock(&setups.lock);
	setups.failed[setups.num++ % MAX_IGNORED] = failed;
	pthread_mutex_unlock(&setups.lock);
}

/* The object is set up, or is gone (SHIM_NUM_FUNCTIONS: of every function). */
static void forget_setup(uint32_t function, const void *object)
{
	pthread_mutex_lock(&setups.lock);
	for (uint32_t i = 0; i < setups.num && i < MAX_IGNORED; i++)
		if (setups.failed[i].object == object &&
		    (function == SHIM_NUM_FUNCTIONS || setups.failed[i].function == function))
			setups.failed[i].object = NULL;
	pthread_mutex_unlock(&setups.lock);
}

static bool find_setup(enum shim_function function, const void *object, struct failed_setup *ret_failed)
{
	bool found = false;

	pthread_mutex_lock(&setups.lock);
	for (uint32_t i = 0; i < setups.num && i < MAX_IGNORED && !found; i++) {
		*ret_failed = setups.failed[(setups.num - 1 - i) % MAX_IGNORED];
		found = ret_failed->function == function && ret_failed->object == object;
	}
	pthread_mutex_unlock(&setups.lock);
	return found;
}

/* ---- ignored errors ---- */

static void report_ignored(const struct shim_call *call, const struct failed_setup *failed)
{
	const char *name = shim_function_names[failed->function].name;
	struct check_hit *hit = check_hit_begin(
		BFC_IGNORED_ERROR, call, "%s fails with %s, as %s had failed with %s before", check_call_name(call),
		doca_error_get_name(check_result(call)), name, doca_error_get_name(failed->result));

	check_hit_add_party(hit, failed->tid, &failed->stack, "%" PRIu64 " us before, %s returned %s",
			    (sim_monotonic_ns() - failed->failed_ns) / 1000, name, doca_error_get_name(failed->result));
	check_hit_add_object(hit, "object", failed->object, NULL);
	check_hit_end(hit);
}

/* Programs clean up after an error without testing which objects were set up. */
static bool is_cleanup(const char *name)
{
	static const char *const words[] = { "_stop", "_destroy", "_free", "_close", "_dec_refcount", "_rm_" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

/* Find a failed call that is the cause: what it was to set up is not set up. */
static bool find_ignored(const void *object, struct failed_setup *ret_failed)
{
	const struct doca_ctx *ctx = shim_ctx_is(object) ? object : NULL;

	if (ctx && !ctx->pe && !ctx->dpa)
		return find_setup(SHIM_FN_doca_pe_connect_ctx, object, ret_failed);
	if (ctx && ctx->state == DOCA_CTX_STATE_IDLE)
		return find_setup(SHIM_FN_doca_ctx_start, object, ret_failed);
	return shim_handle_is(object, SHIM_MMAP) && shim_mmap_state(object) == SHIM_MMAP_NEW &&
	       find_setup(SHIM_FN_doca_mmap_start, object, ret_failed);
}

static void check_ignored(const struct shim_call *call)
{
	struct failed_setup failed;

	if (is_cleanup(check_call_name(call)))
		return;
	for (int i = 0; i < 2 && shim_function_names[call->function].params[i]; i++)
		if (find_ignored(check_arg(call, i), &failed) && failed.function != call->function) {
			report_ignored(call, &failed);
			return;
		}
}

/* ---- order ---- */

static void report_configured(const struct shim_call *call, const struct doca_ctx *ctx)
{
	struct check_ctx_history history;
	struct check_hit *hit =
		check_hit_begin(BFC_CONFIGURE_AFTER_START, call, "%s: the %s context is %s already",
				check_call_name(call), ctx->ops->name, check_ctx_state_name(ctx->state));

	if (check_ctx_history_find(ctx, &history))
		check_hit_add_party(hit, history.tid, &history.stack, "%" PRIu64 " us before, it went from %s to %s",
				    (sim_monotonic_ns() - history.changed_ns) / 1000,
				    check_ctx_state_name(history.from), check_ctx_state_name(history.to));
	check_hit_add_ctx(hit, ctx);
	check_hit_end(hit);
}

static void check_configured(const struct shim_call *call)
{
	const char *name = check_call_name(call);
	const struct doca_ctx *ctx = check_arg_ctx(call, call->function == SHIM_FN_doca_pe_connect_ctx);

	if (ctx && ctx->state != DOCA_CTX_STATE_IDLE &&
	    (strstr(name, "_set_") || strstr(name, "_add_") || strstr(name, "_register") ||
	     call->function == SHIM_FN_doca_pe_connect_ctx))
		report_configured(call, ctx);
}

static void check_started(const struct shim_call *call)
{
	const struct doca_ctx *ctx = check_arg_ctx(call, 0);
	struct check_hit *hit;

	if (!ctx || ctx->pe || ctx->dpa)
		return;
	hit = check_hit_begin(BFC_START_WITHOUT_ENGINE, call, "doca_ctx_start: the %s context has no progress engine",
			      ctx->ops->name);
	check_hit_add_ctx(hit, ctx);
	check_hit_end(hit);
}

static void leave_setup(struct shim_call *call)
{
	if (check_result(call) == DOCA_SUCCESS || check_result(call) == DOCA_ERROR_IN_PROGRESS)
		forget_setup(call->function, check_arg(call, setup_arg(call->function)));
}

static void leave_destroy(struct shim_call *call)
{
	if (check_result(call) == DOCA_SUCCESS)
		forget_setup(SHIM_NUM_FUNCTIONS, check_arg(call, 0));
}

/* A context that is starting has not failed: what ends its start is not a matter of the call. */
static bool is_setup_failure(const struct shim_call *call)
{
	return setup_arg(call->function) >= 0 && check_result(call) != DOCA_ERROR_IN_PROGRESS;
}

static void call_failed(const struct shim_call *call)
{
	doca_error_t result = check_result(call);

	if (result == DOCA_ERROR_BAD_STATE)
		check_configured(call);
	if (result == DOCA_ERROR_NOT_CONNECTED && call->function == SHIM_FN_doca_ctx_start)
		check_started(call);
	if (result == DOCA_ERROR_BAD_STATE || result == DOCA_ERROR_NOT_CONNECTED)
		check_ignored(call);
	if (is_setup_failure(call))
		remember_setup(call, check_arg(call, setup_arg(call->function)));
}

static const struct check_watch watches[] = { { SHIM_FN_doca_ctx_start, NULL, leave_setup },
					      { SHIM_FN_doca_mmap_start, NULL, leave_setup },
					      { SHIM_FN_doca_pe_connect_ctx, NULL, leave_setup },
					      { SHIM_FN_doca_mmap_destroy, NULL, leave_destroy },
#define DESTROYED(name) { SHIM_FN_##name, NULL, leave_destroy },
					      SHIM_DESTROY_CTX(DESTROYED)
#undef DESTROYED
};

const struct check_part check_order = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.call_failed = call_failed,
	.lock = &setups.lock,
};
