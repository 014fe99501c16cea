/* SPDX-License-Identifier: BSD-3-Clause */
/* Rate limits of log records, for each line of source. */
#include "shim/common/log/log_priv.h"
#include "sim/base/fork.h"

#include <stdlib.h>

#define NUM_CHAINS (sizeof(((struct shim_log_rate *)NULL)->sites) / sizeof(struct shim_log_site *))

/* A line of source that logs. */
struct shim_log_site {
	struct shim_log_site *next;
	const char *file;
	int line;
	uint32_t shown;    /* in this bucket */
	uint64_t dropped;  /* in this bucket */
	uint64_t start_ns; /* of this bucket */
};

static struct shim_log_rate *_Atomic rates;

static void register_rate(struct shim_log_rate *rate)
{
	if (atomic_load_explicit(&rate->is_listed, memory_order_relaxed) || atomic_exchange(&rate->is_listed, true))
		return;
	rate->next = atomic_load(&rates);
	while (!atomic_compare_exchange_weak(&rates, &rate->next, rate))
		;
}

static void reset_locks(void)
{
	for (struct shim_log_rate *rate = atomic_load(&rates); rate; rate = rate->next)
		pthread_mutex_init(&rate->lock, NULL);
}

SIM_AT_FORK(SIM_FORK_LOG, .child = reset_locks);

static struct shim_log_site *find_or_add_site(struct shim_log_rate *rate, const char *file, int line, uint64_t now_ns)
{
	struct shim_log_site **chain = &rate->sites[((uintptr_t)file / 8 + line) % NUM_CHAINS];
	struct shim_log_site *site;

	for (site = *chain; site; site = site->next) {
		if (site->file == file && site->line == line)
			return site;
	}
	site = calloc(1, sizeof(*site));
	if (!site)
		return NULL;
	site->file = file;
	site->line = line;
	site->start_ns = now_ns;
	site->next = *chain;
	*chain = site;
	return site;
}

static enum shim_log_verdict apply_rate(struct shim_log_site *site, const struct shim_log_rate *rate, uint64_t now_ns,
					uint64_t *ret_dropped)
{
	if (now_ns - site->start_ns >= rate->bucket_ns) {
		*ret_dropped = site->dropped;
		site->start_ns = now_ns;
		site->shown = 0;
		site->dropped = 0;
	}
	if (site->shown < rate->quantity) {
		site->shown++;
		return SHIM_LOG_SHOW;
	}
	return site->dropped++ ? SHIM_LOG_DROP : SHIM_LOG_FIRST_DROP;
}

enum shim_log_verdict shim_log_rate_check(struct shim_log_rate *rate, const char *file, int line, uint64_t now_ns,
					  uint64_t *ret_dropped)
{
	enum shim_log_verdict verdict = SHIM_LOG_SHOW;
	struct shim_log_site *site;

	*ret_dropped = 0;
	register_rate(rate);
	pthread_mutex_lock(&rate->lock);
	site = find_or_add_site(rate, file, line, now_ns);
	if (site)
		verdict = apply_rate(site, rate, now_ns, ret_dropped);
	pthread_mutex_unlock(&rate->lock);
	return verdict;
}
