/* SPDX-License-Identifier: BSD-3-Clause */
/* MsgQs: life, and the creation of their ends. */
#include "dpa_priv.h"

#include "shim/common/base/check.h"
#include "shim/common/dev/dev_priv.h"

/* ---- life ---- */

doca_error_t doca_comch_msgq_create(struct doca_dev *dev, struct doca_comch_msgq **msgq)
{
	struct doca_comch_msgq *created;

	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(msgq);
	created = shim_object_new(SHIM_COMCH_MSGQ, sizeof(*created));
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->dev = dev;
	created->max_num[COMCH_CONSUMER] = shim_dev_function(dev)->caps.comch_max_consumers;
	created->max_num[COMCH_PRODUCER] = shim_dev_function(dev)->caps.comch_max_producers;
	pthread_mutex_init(&created->producers_lock, NULL);
	shim_dev_hold(dev);
	*msgq = created;
	return DOCA_SUCCESS;
}

/* Return from the public function unless the MsgQ is stopped. */
#define NEED_STOPPED(msgq)                                                                              \
	do {                                                                                            \
		SHIM_NEED((msgq), SHIM_COMCH_MSGQ);                                                     \
		if ((msgq)->connection)                                                                 \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the MsgQ is started; stop it first"); \
	} while (0)

static void set_dpa(struct doca_comch_msgq *msgq, struct doca_dpa *dpa, enum comch_msgq_direction direction)
{
	if (dpa)
		dpa->base->num_users++;
	if (msgq->dpa)
		msgq->dpa->base->num_users--;
	msgq->dpa = dpa;
	msgq->direction = direction;
}

doca_error_t doca_comch_msgq_destroy(struct doca_comch_msgq *msgq)
{
	NEED_STOPPED(msgq);
	set_dpa(msgq, NULL, COMCH_MSGQ_NONE);
	shim_dev_release(msgq->dev);
	pthread_mutex_destroy(&msgq->producers_lock);
	shim_object_free(msgq, SHIM_COMCH_MSGQ);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_msgq_set_dpa_consumer(struct doca_comch_msgq *msgq, struct doca_dpa *dpa)
{
	NEED_STOPPED(msgq);
	SHIM_NEED(dpa, SHIM_DPA);
	set_dpa(msgq, dpa, COMCH_MSGQ_TO_DPA);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_msgq_set_dpa_producer(struct doca_comch_msgq *msgq, struct doca_dpa *dpa)
{
	NEED_STOPPED(msgq);
	SHIM_NEED(dpa, SHIM_DPA);
	set_dpa(msgq, dpa, COMCH_MSGQ_FROM_DPA);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_msgq_set_max_num_consumers(struct doca_comch_msgq *msgq, uint32_t max_num_consumers)
{
	uint32_t max;

	NEED_STOPPED(msgq);
	max = shim_dev_function(msgq->dev)->caps.comch_max_consumers;
	if (max_num_consumers == 0 || max_num_consumers > max)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "%u consumers; give 1 to %u (doca_comch_consumer_cap_get_max_consumers)",
				   max_num_consumers, max);
	msgq->max_num[COMCH_CONSUMER] = max_num_consumers;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_msgq_set_max_num_producers(struct doca_comch_msgq *msgq, uint32_t max_num_producers)
{
	uint32_t max;

	NEED_STOPPED(msgq);
	max = shim_dev_function(msgq->dev)->caps.comch_max_producers;
	if (max_num_producers == 0 || max_num_producers > max)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "%u producers; give 1 to %u (doca_comch_producer_cap_get_max_producers)",
				   max_num_producers, max);
	msgq->max_num[COMCH_PRODUCER] = max_num_producers;
	return DOCA_SUCCESS;
}

/* A consumer of the CPU has posted a receive, for which producers of the DPA may wait. */
static void retry_producers(struct doca_comch_connection *connection)
{
	struct doca_comch_msgq *msgq = connection->msgq;
	struct doca_comch_producer *producer;

	pthread_mutex_lock(&msgq->producers_lock);
	LIST_FOREACH(producer, &msgq->producers, dpa_link)
		sim_dpa_producer_retry(&producer->dpa);
	pthread_mutex_unlock(&msgq->producers_lock);
}

static struct doca_comch_connection *make_connection(struct doca_comch_msgq *msgq)
{
	struct doca_comch_connection *connection = shim_object_new(SHIM_COMCH_CONNECTION, sizeof(*connection));

	if (!connection)
		return NULL;
	sim_pipe_open_local(&connection->pipe, &comch_group_ops);
	connection->refs = 1;
	connection->msgq = msgq;
	connection->next_id = 1; /* our choice: vendor's samples have a consumer with this id in their code */
	if (msgq->direction == COMCH_MSGQ_FROM_DPA)
		connection->receives_changed = retry_producers;
	return connection;
}

doca_error_t doca_comch_msgq_start(struct doca_comch_msgq *msgq)
{
	doca_error_t result;

	SHIM_NEED(msgq, SHIM_COMCH_MSGQ);
	if (msgq->connection)
		return DOCA_SUCCESS;
	if (msgq->direction == COMCH_MSGQ_NONE)
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
				   "the MsgQ has no direction; call doca_comch_msgq_set_dpa_consumer() "
				   "or doca_comch_msgq_set_dpa_producer() first");
	result = shim_dpa_check_running(__func__, msgq->dpa);
	if (result != DOCA_SUCCESS)
		return result;
	if (shim_dev_function(msgq->dev)->card != shim_dev_function(msgq->dpa->dev)->card)
		return SHIM_REFUSE(DOCA_ERROR_DRIVER, "the DPA is another card's than the MsgQ's device");
	msgq->connection = make_connection(msgq);
	return msgq->connection ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

doca_error_t doca_comch_msgq_stop(struct doca_comch_msgq *msgq)
{
	SHIM_NEED(msgq, SHIM_COMCH_MSGQ);
	if (!msgq->connection)
		return DOCA_SUCCESS;
	for (int kind = 0; kind < COMCH_NUM_DATA_PATH_KINDS; kind++)
		if (msgq->connection->num_objects[kind] > 0)
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,
					   "the MsgQ has consumers or producers; destroy them first");
	comch_connection_put(msgq->connection);
	msgq->connection = NULL;
	return DOCA_SUCCESS;
}

/* ---- ends ---- */

static const char *const kind_names[] = { [COMCH_CONSUMER] = "consumers", [COMCH_PRODUCER] = "producers" };

/* Create an end, an object of @size bytes that begins with its data path. */
static doca_error_t make_end(const char *func, struct doca_comch_msgq *msgq, enum shim_kind object_kind, size_t size,
			     const struct shim_ctx_ops *ops, enum comch_data_path_kind kind,
			     struct comch_data_path **ret_end)
{
	struct doca_comch_connection *connection = msgq->connection;
	struct comch_data_path *end;

	if (!connection) {
		sim_err("%s: the MsgQ is not started; call doca_comch_msgq_start() first", func);
		return DOCA_ERROR_BAD_STATE;
	}
	if (connection->num_objects[kind] == msgq->max_num[kind]) {
		sim_err("%s: the MsgQ has %u %s, its limit; destroy one", func, msgq->max_num[kind], kind_names[kind]);
		return DOCA_ERROR_NO_MEMORY;
	}
	end = shim_object_new(object_kind, size);
	if (!end)
		return DOCA_ERROR_NO_MEMORY;
	end->connection = connection;
	end->kind = kind;
	end->id = connection->next_id++;
	connection->num_objects[kind]++;
	comch_connection_hold(connection);
	shim_ctx_init(&end->ctx, ops, msgq->dev);
	*ret_end = end;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_msgq_consumer_create(struct doca_comch_msgq *msgq, struct doca_comch_consumer **consumer)
{
	const struct shim_ctx_ops *ops;
	struct comch_data_path *end;
	doca_error_t result;

	SHIM_NEED(msgq, SHIM_COMCH_MSGQ);
	SHIM_NEED_OUT(consumer);
	ops = msgq->direction == COMCH_MSGQ_TO_DPA ? &comch_dpa_consumer_ops : &comch_consumer_ops;
	result = make_end(__func__, msgq, SHIM_COMCH_CONSUMER, sizeof(**consumer), ops, COMCH_CONSUMER, &end);
	if (result != DOCA_SUCCESS)
		return result;
	*consumer = (struct doca_comch_consumer *)end;
	(*consumer)->imm_bytes = SIM_DPA_MAX_IMM_BYTES;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_msgq_producer_create(struct doca_comch_msgq *msgq, struct doca_comch_producer **producer)
{
	const struct shim_ctx_ops *ops;
	struct comch_data_path *end;
	doca_error_t result;

	SHIM_NEED(msgq, SHIM_COMCH_MSGQ);
	SHIM_NEED_OUT(producer);
	ops = msgq->direction == COMCH_MSGQ_FROM_DPA ? &comch_dpa_producer_ops : &comch_producer_ops;
	result = make_end(__func__, msgq, SHIM_COMCH_PRODUCER, sizeof(**producer), ops, COMCH_PRODUCER, &end);
	if (result == DOCA_SUCCESS)
		*producer = (struct doca_comch_producer *)end;
	return result;
}
