/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of DPA threads: each has a rank. */
#include <stdlib.h>

#include "dpa_priv.h"

doca_error_t doca_dpa_thread_group_create(struct doca_dpa *dpa, unsigned int num_threads, struct doca_dpa_tg **tg)
{
	struct doca_dpa_tg *created;

	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(tg);
	if (num_threads == 0)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "a group needs at least one thread");
	created = dpa_object_new(__func__, SHIM_DPA_THREAD_GROUP, sizeof(*created), dpa);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->threads = calloc(num_threads, sizeof(*created->threads));
	if (!created->threads) {
		dpa_object_free(created, SHIM_DPA_THREAD_GROUP, dpa);
		return DOCA_ERROR_NO_MEMORY;
	}
	created->dpa = dpa;
	created->num_threads = num_threads;
	*tg = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_thread_group_destroy(struct doca_dpa_tg *tg)
{
	SHIM_NEED(tg, SHIM_DPA_THREAD_GROUP);
	for (unsigned int i = 0; i < tg->num_threads; i++)
		if (tg->threads[i])
			tg->threads[i]->group = NULL;
	free(tg->threads);
	dpa_object_free(tg, SHIM_DPA_THREAD_GROUP, tg->dpa);
	return DOCA_SUCCESS;
}

SHIM_DEFINE_GETTER(doca_dpa_thread_group_get_num_threads, struct doca_dpa_tg, tg, SHIM_DPA_THREAD_GROUP, unsigned int,
		   num_threads, tg->num_threads)

doca_error_t doca_dpa_thread_group_set_thread(struct doca_dpa_tg *tg, struct doca_dpa_thread *thread, unsigned int rank)
{
	SHIM_NEED(tg, SHIM_DPA_THREAD_GROUP);
	SHIM_NEED(thread, SHIM_DPA_THREAD);
	if (tg->is_started)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the group is started; stop it first");
	if (rank >= tg->num_threads)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "rank %u; the group has %u threads", rank,
				   tg->num_threads);
	if (thread->group)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the thread is in a group already");
	if (tg->threads[rank])
		tg->threads[rank]->group = NULL;
	tg->threads[rank] = thread;
	thread->group = tg;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_thread_group_start(struct doca_dpa_tg *tg)
{
	SHIM_NEED(tg, SHIM_DPA_THREAD_GROUP);
	if (tg->is_started)
		return DOCA_SUCCESS;
	for (unsigned int i = 0; i < tg->num_threads; i++)
		if (!tg->threads[i] || !tg->threads[i]->activity)
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "rank %u has no thread that is started", i);
	if (!shim_dpa_is_own(tg->dpa))
		return SHIM_REFUSE(DOCA_ERROR_DRIVER, "the DPA context is the parent process's");
	for (unsigned int i = 0; i < tg->num_threads; i++)
		sim_dpa_activity_set_rank(tg->threads[i]->activity, i, tg->num_threads);
	tg->is_started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_dpa_thread_group_stop(struct doca_dpa_tg *tg)
{
	SHIM_NEED(tg, SHIM_DPA_THREAD_GROUP);
	tg->is_started = false;
	return DOCA_SUCCESS;
}
