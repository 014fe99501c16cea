/* SPDX-License-Identifier: BSD-3-Clause */
/* Rule: a device or representor that the program looks for exists. A search is judged at the exit only, as a program may
 * look in several lists. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <doca_dev.h>

#include "shim/check/base/check.h"
#include "shim/check/report/hit.h"
#include "shim/common/dev/dev_priv.h"
#include "shim/common/process/runtime.h"

#define MAX_SEARCHES 16
#define MAX_LISTED   8
#define TEXT_SIZE    768
#define FILTER_NAME  "filter" /* of the search that a refused list of representors is */

struct search {
	char sought[PCIE_ADDR_TEXT_SIZE + 8];
	bool is_found;
	char text[TEXT_SIZE]; /* what is wrong; written at once, as the session may be over at the exit */
	struct check_stack stack;
};

static struct {
	pthread_mutex_t lock;
	pid_t pid;
	bool filters_queried;
	uint32_t count;
	struct search list[MAX_SEARCHES];
} searches = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void __attribute__((format(printf, 2, 3))) append(char text[TEXT_SIZE], const char *format, ...)
{
	size_t len = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + len, TEXT_SIZE - len, format, args);
	va_end(args);
}

/* ---- what there is ---- */

struct choice {
	const struct pcie_function *functions[PCIE_MAX_FUNCTIONS];
	size_t count;
};

static void add_function(struct choice *choice, const struct pcie_function *function)
{
	for (size_t i = 0; i < choice->count; i++)
		if (choice->functions[i] == function)
			return;
	choice->functions[choice->count++] = function;
}

/* The functions of @side, or those whose representors they hold. */
static void collect(struct choice *choice, const char *side, bool reps)
{
	const struct pcie_topology *topology = sim_session_topology(shim_session());

	for (size_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		if (strcmp(function->side, side) != 0)
			continue;
		if (!reps)
			add_function(choice, function);
		for (size_t j = 0; reps && j < function->num_reps; j++)
			add_function(choice, &topology->functions[function->reps[j]]);
	}
}

/* How many characters are the same at the same place. */
static size_t likeness(const char *a, const char *b)
{
	size_t count = 0;

	for (size_t i = 0; a[i] && b[i]; i++)
		count += a[i] == b[i];
	return count;
}

static void describe_choice(char text[TEXT_SIZE], const struct choice *choice, const char *sought, const char *kind)
{
	char addr[PCIE_ADDR_TEXT_SIZE], nearest[PCIE_ADDR_TEXT_SIZE] = "";

	append(text, "; there are %s", choice->count ? "" : "none");
	for (size_t i = 0; i < choice->count; i++) {
		pcie_addr_format(&choice->functions[i]->addr, addr);
		if (i < MAX_LISTED)
			append(text, "%s%s (%s%s)", i ? ", " : "", addr, choice->functions[i]->ibdev,
			       choice->functions[i]->type == PCIE_FUNC_SF ? ", an SF" : "");
		if (!nearest[0] || likeness(addr, sought) > likeness(nearest, sought))
			memcpy(nearest, addr, sizeof(nearest));
	}
	if (choice->count > MAX_LISTED)
		append(text, " and %zu more", choice->count - MAX_LISTED);
	if (choice->count > 1)
		append(text, "; the %s that is nearest is %s", kind, nearest);
}

/* The representor is another device's of this side. Returns whether it is. */
static bool describe_holder(char text[TEXT_SIZE], const char *side, const struct pcie_function *function)
{
	const struct pcie_function *holder =
		pcie_topology_find_rep_holder(sim_session_topology(shim_session()), function->id);
	char addr[PCIE_ADDR_TEXT_SIZE];

	if (!holder || strcmp(holder->side, side) != 0)
		return false;
	pcie_addr_format(&holder->addr, addr);
	append(text, "; its representor is on %s (%s), not on the device of this list", addr, holder->ibdev);
	return true;
}

static void describe_owner(char text[TEXT_SIZE], const char *side, const struct pcie_addr *sought, bool is_rep)
{
	const struct pcie_topology *topology = sim_session_topology(shim_session());

	for (size_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		if (!pcie_addr_equal(sought, &function->addr))
			continue;
		if (is_rep && describe_holder(text, side, function))
			return;
		if (strcmp(function->side, side) == 0)
			append(text, "; it is the address of this side's own %s", function->ibdev);
		else
			append(text, "; it is the address of %s of side %s, and this is side %s", function->ibdev,
			       function->side, side);
		return;
	}
}

static void describe(struct search *search, const char *side, const char *sought, bool is_rep)
{
	static struct choice choice; /* large; under the lock */
	const char *kind = is_rep ? "representor" : "device";
	struct pcie_addr addr;

	snprintf(search->text, TEXT_SIZE, "no %s has the PCI address %s", kind, sought);
	choice.count = 0;
	if (pcie_addr_parse(sought, &addr) == 0)
		describe_owner(search->text, side, &addr, is_rep);
	collect(&choice, side, is_rep);
	describe_choice(search->text, &choice, search->sought, kind);
}

/* ---- searches ---- */

static struct search *find(const char *sought)
{
	for (uint32_t i = 0; i < searches.count; i++)
		if (strcmp(searches.list[i].sought, sought) == 0)
			return &searches.list[i];
	return NULL;
}

/* With the lock. NULL: beyond MAX_SEARCHES. */
static struct search *add(const char *sought, const struct shim_call *call)
{
	struct search *search = searches.count < MAX_SEARCHES ? &searches.list[searches.count++] : NULL;

	searches.pid = getpid();
	if (!search)
		return NULL;
	snprintf(search->sought, sizeof(search->sought), "%s", sought);
	check_stack_take(call->caller, &search->stack);
	return search;
}

/* A function that was removed is not listed, nor is its representor. */
static bool was_removed(const char *sought)
{
	const struct sim_session *session = shim_session();
	struct pcie_addr addr;
	bool found = false;

	if (!session || pcie_addr_parse(sought, &addr) < 0)
		return false;
	for (uint32_t i = 0; i < sim_session_topology(session)->num_functions && !found; i++)
		found = pcie_addr_equal(&addr, &sim_session_topology(session)->functions[i].addr) &&
			atomic_load(sim_session_function_status(session, i)) &
				(SIM_FUNCTION_REMOVED | SIM_FUNCTION_REP_REMOVED);
	return found;
}

static void note_comparison(const struct shim_call *call, const char *side, bool is_rep)
{
	const char *text = check_arg(call, 1);
	bool is_equal = *(const uint8_t *)check_arg(call, 2);
	char sought[PCIE_ADDR_TEXT_SIZE];
	struct pcie_addr addr;
	struct search *search;

	if (pcie_addr_parse(text, &addr) < 0)
		return;
	pcie_addr_format(&addr, sought);
	pthread_mutex_lock(&searches.lock);
	search = find(sought);
	if (!search && (search = add(sought, call)) != NULL && !is_equal)
		describe(search, side, text, is_rep);
	if (search)
		search->is_found |= is_equal || was_removed(sought);
	pthread_mutex_unlock(&searches.lock);
}

static void leave_dev_is_equal(struct shim_call *call)
{
	if (check_result(call) == DOCA_SUCCESS && shim_session())
		note_comparison(call, ((const struct doca_devinfo *)check_arg(call, 0))->function->side, false);
}

static void leave_rep_is_equal(struct shim_call *call)
{
	if (check_result(call) == DOCA_SUCCESS && shim_session())
		note_comparison(call, ((const struct doca_devinfo_rep *)check_arg(call, 0))->listed_by->side, true);
}

/* ---- refused lists of representors ---- */

static void leave_query(struct shim_call *call)
{
	(void)call;
	searches.filters_queried = true;
}

static void describe_filters(struct search *search, const struct pcie_function *function, int filter)
{
	const struct pcie_caps *caps = &function->caps;

	snprintf(search->text, TEXT_SIZE,
		 "doca_devinfo_rep_create_list: %s has no representors for filter %#x, and its capabilities were not "
		 "queried; it has those of%s%s%s%s",
		 function->ibdev, (unsigned int)filter, caps->rep_filter_all ? " ALL" : "",
		 caps->rep_filter_net ? " NET" : "", caps->rep_filter_emulated ? " EMULATED" : "",
		 caps->rep_filter_all || caps->rep_filter_net || caps->rep_filter_emulated ?
			 "" :
			 " no filter: representors are on the DPU");
}

static void leave_rep_list(struct shim_call *call)
{
	const struct doca_dev *dev = check_arg(call, 0);
	doca_error_t result = check_result(call);
	struct search *search;

	if (result != DOCA_SUCCESS && result != DOCA_ERROR_NOT_SUPPORTED)
		return;
	pthread_mutex_lock(&searches.lock);
	search = find(FILTER_NAME);
	if (!search && (search = add(FILTER_NAME, call)) != NULL && result != DOCA_SUCCESS)
		describe_filters(search, shim_dev_function(dev), (int)call->args[1]);
	if (search)
		search->is_found |= result == DOCA_SUCCESS || searches.filters_queried;
	pthread_mutex_unlock(&searches.lock);
}

static void report_searches(void)
{
	if (searches.pid != getpid()) /* a forked child's searches are its parent's */
		return;
	for (uint32_t i = 0; i < searches.count; i++)
		if (!searches.list[i].is_found)
			check_hit_end(check_hit_begin_at(BFC_DEVICE_NOT_FOUND, &searches.list[i].stack, "%s",
							 searches.list[i].text));
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_devinfo_is_equal_pci_addr, NULL, leave_dev_is_equal },
	{ SHIM_FN_doca_devinfo_rep_is_equal_pci_addr, NULL, leave_rep_is_equal },
	{ SHIM_FN_doca_devinfo_rep_create_list, NULL, leave_rep_list },
	{ SHIM_FN_doca_devinfo_rep_cap_is_filter_all_supported, NULL, leave_query },
	{ SHIM_FN_doca_devinfo_rep_cap_is_filter_net_supported, NULL, leave_query },
	{ SHIM_FN_doca_devinfo_rep_cap_is_filter_emulated_supported, NULL, leave_query },
};

const struct check_part check_dev_find = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.lock = &searches.lock,
	.exit = report_searches,
};
