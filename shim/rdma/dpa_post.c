/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernels call: posts of requests and of receives. */
#include <errno.h>
#include <stdlib.h>

#include "dpa_priv.h"
#include "shim/common/base/alloc.h"

/* ---- requests ---- */

/* Hand a request to its queue pair. */
static void submit(struct rdma_dpa_request *request)
{
	struct sim_qp *qp = request->connection->qp;
	int rc;

	request->connection->num_pending--;
	rdma_dpa_prepare(request);
	if (request->hit)
		rdma_dpa_fault_apply_request(request);
	rc = sim_qp_post(qp, &request->work);
	if (rc < 0) {
		request->work.status = sim_qp_get_state(qp) == SIM_QP_ERROR ? -ECANCELED : rc;
		rdma_dpa_end_request(request, false);
		return;
	}
	sim_qp_progress_requests(qp);
}

void rdma_dpa_flush(struct rdma_dpa *dpa)
{
	struct rdma_dpa_request *request;

	while ((request = STAILQ_FIRST(&dpa->pending))) {
		STAILQ_REMOVE_HEAD(&dpa->pending, link);
		submit(request);
	}
	rdma_dpa_settle(dpa);
}

/* ---- posts ---- */

static struct doca_rdma_connection *find_connection(const struct rdma_dpa *dpa, uint32_t id)
{
	struct doca_rdma_connection *connection;

	TAILQ_FOREACH(connection, &dpa->rdma->connections, link)
		if (connection->id == id)
			return connection;
	return NULL;
}

/* Post a request like @with. Returns 0, -EAGAIN or -ENOENT. */
static int post(struct rdma_dpa *dpa, uint32_t connection_id, const struct rdma_dpa_request *with, bool is_flush)
{
	struct doca_rdma_connection *connection = find_connection(dpa, connection_id);
	struct rdma_dpa_request *request;
	struct sim_fault_hit *hit;

	if (!connection)
		return -ENOENT;
	if (sim_qp_num_works(connection->qp) + connection->num_pending >= dpa->rdma->properties.send_queue_size) {
		rdma_dpa_flush(dpa);
		return -EAGAIN;
	}
	if (rdma_dpa_fault_ask_request(dpa, with, &hit) < 0)
		return -EAGAIN;
	request = shim_malloc(sizeof(*request));
	if (!request) {
		free(hit);
		return -EAGAIN;
	}
	*request = *with;
	request->hit = hit;
	request->dpa = dpa;
	request->connection = connection;
	request->index = connection->num_posted++ % dpa->rdma->properties.send_queue_size;
	connection->num_pending++;
	STAILQ_INSERT_TAIL(&dpa->pending, request, link);
	if (is_flush)
		rdma_dpa_flush(dpa);
	return 0;
}

int rdma_dpa_post(struct sim_dpa_rdma *queue, const struct sim_dpa_rdma_post *with)
{
	const struct rdma_dpa_request request = { .op = &rdma_dpa_post_ops[with->op],
						  .dst = with->dst,
						  .src = with->src,
						  .operand = with->value,
						  .is_reported = !(with->flags & SIM_DPA_POST_OPTIMIZE_REPORTS) };
	struct rdma_dpa *dpa = (struct rdma_dpa *)queue;
	int rc;

	pthread_mutex_lock(&dpa->lock);
	rc = post(dpa, with->connection, &request, with->flags & SIM_DPA_POST_FLUSH);
	pthread_mutex_unlock(&dpa->lock);
	return rc;
}

/* A signal has no flags: it is flushed, and a completion tells of its failure alone. */
int rdma_dpa_signal(struct sim_dpa_rdma *queue, uint32_t connection, void *event, bool is_add, uint64_t value)
{
	const struct rdma_dpa_request request = { .op = is_add ? &rdma_dpa_add_op : &rdma_dpa_set_op,
						  .operand = value,
						  .event = event };
	struct rdma_dpa *dpa = (struct rdma_dpa *)queue;
	int rc;

	pthread_mutex_lock(&dpa->lock);
	rc = post(dpa, connection, &request, true);
	pthread_mutex_unlock(&dpa->lock);
	return rc;
}

/* ---- receives ---- */

/* Post the first of the list, which is not empty. Returns 0 or -EAGAIN. */
static int post_first(struct rdma_dpa *dpa, struct rdma_dpa_receives *list, const struct sim_dpa_span *dst)
{
	struct rdma_dpa_receive *first = STAILQ_FIRST(list);
	struct sim_fault_hit *hit;
	int rc = rdma_dpa_fault_ask_receive(dpa, dst, &hit);

	if (rc < 0)
		return rc;
	STAILQ_REMOVE_HEAD(list, link);
	first->dst = *dst;
	rdma_dpa_post_receive(dpa, first, hit);
	return 0;
}

int rdma_dpa_receive(struct sim_dpa_rdma *queue, const struct sim_dpa_span *dst)
{
	struct rdma_dpa *dpa = (struct rdma_dpa *)queue;
	int rc = -ENOBUFS;

	pthread_mutex_lock(&dpa->lock);
	if (!STAILQ_EMPTY(&dpa->complete))
		rc = post_first(dpa, &dpa->complete, dst);
	else if (!STAILQ_EMPTY(&dpa->free))
		rc = post_first(dpa, &dpa->free, dst);
	rdma_dpa_settle(dpa);
	pthread_mutex_unlock(&dpa->lock);
	return rc;
}

int rdma_dpa_receive_again(struct sim_dpa_rdma *queue, uint32_t *num)
{
	struct rdma_dpa *dpa = (struct rdma_dpa *)queue;
	struct rdma_dpa_receive *receive = NULL;
	uint32_t num_complete = 0;
	int rc;

	pthread_mutex_lock(&dpa->lock);
	STAILQ_FOREACH(receive, &dpa->complete, link)
		num_complete++;
	rc = *num <= num_complete ? 0 : -EINVAL;
	for (; rc == 0 && *num > 0; *num -= rc == 0) {
		const struct sim_dpa_span dst = STAILQ_FIRST(&dpa->complete)->dst;

		rc = post_first(dpa, &dpa->complete, &dst);
	}
	rdma_dpa_settle(dpa);
	pthread_mutex_unlock(&dpa->lock);
	return rc;
}
