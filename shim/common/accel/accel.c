/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts of libraries whose tasks an engine of the card runs: capabilities, configuration, life. */
#include "accel.h"

#include <stdio.h>
#include <stdlib.h>

#include "pcie_model/arith.h"
#include "shim/common/base/check.h"

/* ---- capabilities ---- */

static struct pcie_accel_caps get_caps(const struct shim_accel_type *type, const struct pcie_caps *caps)
{
	struct pcie_accel_caps found = type->get_caps ? type->get_caps(caps) : caps->accel[type->accel];

	if (shim_compat->has_own_limits && found.workq_max_buf_bytes)
		found.max_buf_bytes = found.workq_max_buf_bytes;
	return found;
}

static bool profile_has_engine(const struct pcie_profile *profile, const struct shim_accel_type *type)
{
	return get_caps(type, &profile->host_caps).is_supported || get_caps(type, &profile->dpu_caps).is_supported;
}

/* Write the names of the profiles that have the engine: "bluefield-2, bluefield-3". */
static void name_profiles(const struct shim_accel_type *type, char *text, size_t size)
{
	size_t count, len = 0;
	const struct pcie_profile *const *profiles = pcie_profile_all(&count);

	text[0] = '\0';
	for (size_t i = 0; i < count; i++)
		if (profile_has_engine(profiles[i], type) && len < size)
			len += (size_t)snprintf(text + len, size - len, "%s%s", len ? ", " : "", profiles[i]->name);
}

/* Returns whether the card's profile has the engine on the function's side, so that the topology took it. */
static bool is_taken(const struct pcie_function *function, const struct pcie_card *card,
		     const struct shim_accel_type *type)
{
	const struct pcie_profile *profile = card->profile;

	return get_caps(type, pcie_side_is_dpu(function->side) ? &profile->dpu_caps : &profile->host_caps).is_supported;
}

static void log_no_engine(const char *func, const struct pcie_function *function, const struct shim_accel_type *type)
{
	const struct pcie_card *card = &sim_session_topology(shim_session())->cards[function->card];
	bool taken = is_taken(function, card, type);
	char profiles[128];

	name_profiles(type, profiles, sizeof(profiles));
	if (taken && card->mode == PCIE_MODE_NIC)
		sim_warn(
			"%s: %s has no engine for %s: its card (profile %s) is in NIC mode; 'mode: dpu' of the card in the topology offers it",
			func, function->ibdev, type->engine, card->profile->name);
	else if (taken)
		sim_warn(
			"%s: %s has no engine for %s: 'caps' of the function in the topology take it from its card (profile %s)",
			func, function->ibdev, type->engine, card->profile->name);
	else
		sim_warn(
			"%s: %s (profile %s) has no engine for %s; a topology whose card has one of these profiles offers it: %s",
			func, function->ibdev, card->profile->name, type->engine, profiles);
}

/* Programs ask each device: one line of each kind is enough. */
static bool is_first_time(const struct shim_accel_type *type, bool for_lack)
{
	static _Atomic bool seen[2][SIM_OP_COUNT];

	return !atomic_exchange(&seen[for_lack][type->task.fault_ops->op], true);
}

doca_error_t shim_accel_check_support(const char *func, const struct pcie_function *function,
				      const struct shim_accel_type *type)
{
	const char *lack;

	if (!get_caps(type, &function->caps).is_supported) {
		if (is_first_time(type, false))
			log_no_engine(func, function, type);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	lack = type->find_lack ? type->find_lack() : NULL;
	if (!lack)
		return DOCA_SUCCESS;
	if (is_first_time(type, true))
		sim_warn("%s: %s can't be offered: %s", func, type->engine, lack);
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t shim_accel_get_caps(const char *func, const struct pcie_function *function,
				 const struct shim_accel_type *type, struct pcie_accel_caps *ret_caps)
{
	doca_error_t result = shim_accel_check_support(func, function, type);

	if (result == DOCA_SUCCESS)
		*ret_caps = get_caps(type, &function->caps);
	return result;
}

/* The limits of a type in a context; not supported = the context can't run it. */
static struct pcie_accel_caps get_own_caps(const struct shim_accel *accel, const struct shim_accel_type *type)
{
	struct pcie_accel_caps caps = get_caps(type, &shim_dev_function(accel->ctx.dev)->caps);

	if (!caps.is_supported && accel->software_caps)
		caps = *accel->software_caps;
	return caps;
}

bool shim_accel_can_run(const struct shim_accel *accel, const struct shim_accel_type *type)
{
	return get_own_caps(accel, type).is_supported && !(type->find_lack && type->find_lack());
}

uint32_t shim_accel_max_tasks(const struct shim_accel *accel)
{
	const struct shim_accel_lib *lib = shim_accel_lib(accel);
	uint32_t max_tasks = 0;

	for (uint32_t i = 0; i < lib->num_types; i++) {
		uint32_t of_type = get_own_caps(accel, lib->types[i]).max_tasks;

		max_tasks = of_type > max_tasks ? of_type : max_tasks;
	}
	return max_tasks;
}

/* ---- life ---- */

void *shim_accel_new(const struct shim_accel_lib *lib, size_t size, struct doca_dev *dev)
{
	struct shim_accel *accel = shim_object_new(lib->kind, size);

	if (accel)
		shim_ctx_init(&accel->ctx, &lib->ops, dev);
	return accel;
}

static void free_holds(struct shim_accel *accel)
{
	struct shim_accel_hold *hold;

	while ((hold = SLIST_FIRST(&accel->holds)) != NULL) {
		SLIST_REMOVE_HEAD(&accel->holds, link);
		shim_accel_lib(accel)->unref_held(hold->held);
		free(hold);
	}
}

/* The context is idle, or was a parent's that was stopped in a forked child. */
static void forget_tasks(struct shim_accel *accel)
{
	const struct shim_accel_lib *lib = shim_accel_lib(accel);

	for (uint32_t i = 0; i < lib->num_types; i++)
		accel->conf[i].tasks.pool = NULL;
	if (lib->forget_tasks)
		lib->forget_tasks(accel);
	free_holds(accel);
	shim_lists_free(&accel->lists);
	shim_work_memory_free(&accel->work_memory);
}

doca_error_t shim_accel_destroy(struct shim_accel *accel)
{
	enum shim_kind kind = shim_accel_lib(accel)->kind;
	doca_error_t result = shim_ctx_fini(&accel->ctx);

	if (result != DOCA_SUCCESS)
		return result;
	forget_tasks(accel);
	shim_object_free(accel, kind);
	return DOCA_SUCCESS;
}

static uint32_t sum_of_tasks(const struct shim_accel *accel)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < shim_accel_lib(accel)->num_types; i++)
		sum += accel->conf[i].tasks.num_tasks;
	return sum;
}

doca_error_t shim_accel_set_conf(const char *func, struct shim_accel *accel, uint32_t index, void (*done)(void),
				 void (*failed)(void), uint32_t num_tasks)
{
	struct shim_task_conf *conf = &accel->conf[index].tasks;
	uint32_t max = shim_accel_max_tasks(accel), others = sum_of_tasks(accel) - conf->num_tasks;
	char limit[96];

	snprintf(limit, sizeof(limit), "the device's limit is %u, for all types of tasks together", max);
	return shim_task_set_conf(func, &accel->ctx, conf, done, failed, num_tasks, max - min_u32(others, max), limit);
}

static doca_error_t check_type(struct shim_accel *accel, const struct shim_accel_type *type,
			       struct pcie_accel_caps *ret_caps)
{
	if (!shim_accel_can_run(accel, type)) /* says why */
		return shim_accel_check_support("doca_ctx_start", shim_dev_function(accel->ctx.dev), type);
	*ret_caps = get_own_caps(accel, type);
	return DOCA_SUCCESS;
}

static doca_error_t check_conf(struct shim_accel *accel)
{
	const struct shim_accel_lib *lib = shim_accel_lib(accel);
	const struct pcie_function *function = shim_dev_function(accel->ctx.dev);
	doca_error_t result = DOCA_SUCCESS;

	for (uint32_t i = 0; i < lib->num_types && result == DOCA_SUCCESS; i++) {
		if (accel->conf[i].tasks.num_tasks > 0)
			result = check_type(accel, lib->types[i], &accel->conf[i].caps);
		if (result != DOCA_SUCCESS)
			sim_err("doca_ctx_start: device %s does not offer %s, for which tasks are configured; ask its capabilities first",
				function->ibdev, lib->types[i]->engine);
	}
	return result;
}

static doca_error_t add_pools(struct shim_accel *accel)
{
	const struct shim_accel_lib *lib = shim_accel_lib(accel);
	doca_error_t result = DOCA_SUCCESS;

	for (uint32_t i = 0; i < lib->num_types && result == DOCA_SUCCESS; i++)
		if (accel->conf[i].tasks.num_tasks > 0)
			result = shim_task_pool_add(&accel->ctx, &lib->types[i]->task, accel->conf[i].tasks.num_tasks,
						    &accel->conf[i].tasks.pool);
	return result;
}

doca_error_t shim_accel_start(struct doca_ctx *ctx)
{
	struct shim_accel *accel = (struct shim_accel *)ctx;
	uint32_t num_tasks = sum_of_tasks(accel);
	doca_error_t result;

	if (num_tasks == 0) {
		sim_err("doca_ctx_start: no task type is configured; call %s_set_conf() first",
			shim_accel_lib(accel)->types[0]->func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = check_conf(accel);
	if (result == DOCA_SUCCESS)
		result = shim_ctx_open_queue(ctx, num_tasks);
	return result == DOCA_SUCCESS ? add_pools(accel) : result;
}

void shim_accel_stopped(struct doca_ctx *ctx)
{
	forget_tasks((struct shim_accel *)ctx);
}

/* The tasks of the pool so far are all allocated; further ones come from another pool. */
doca_error_t shim_accel_grow(struct shim_accel *accel, uint32_t index, uint32_t num_tasks)
{
	struct shim_task_conf *conf = &accel->conf[index].tasks;

	if (sim_queue_grow(accel->ctx.queue, num_tasks) < 0 ||
	    shim_task_pool_add(&accel->ctx, &shim_accel_lib(accel)->types[index]->task, num_tasks - conf->num_tasks,
			       &conf->pool) != DOCA_SUCCESS)
		return DOCA_ERROR_NO_MEMORY;
	conf->num_tasks = num_tasks;
	return DOCA_SUCCESS;
}
