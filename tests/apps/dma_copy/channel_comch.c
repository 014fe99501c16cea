/* SPDX-License-Identifier: BSD-3-Clause */
/* Common parts of a server and a client of Comch: stopping and sending. */
#include "channel_comch.h"

#include <stdlib.h>
#include <string.h>

#include <doca_log.h>
#include <doca_pe.h>

#include "failure.h"

DOCA_LOG_REGISTER(DMA_COPY::COMCH);

#define STOP_S 5.0

/* --- Life --- */

doca_error_t comch_end_new(struct channel *channel)
{
	channel->end = calloc(1, sizeof(*channel->end));
	return channel->end ? DOCA_SUCCESS : failure_report(DOCA_ERROR_NO_MEMORY, "No memory for a channel");
}

doca_error_t comch_max_bytes(const struct channel *channel, uint32_t *ret_bytes)
{
	uint32_t bytes;
	doca_error_t result = doca_comch_cap_get_max_msg_size(doca_dev_as_devinfo(channel->cfg.dev), &bytes);

	if (result == DOCA_SUCCESS)
		*ret_bytes = channel_max_bytes(bytes);
	return result;
}

void comch_on_connected(struct channel *channel, struct doca_comch_connection *connection)
{
	channel->end->connection = connection;
	channel_on_connected(channel);
}

void comch_on_disconnected(struct channel *channel)
{
	channel->end->connection = NULL;
	channel_on_disconnected(channel);
}

bool comch_is_idle(const struct channel *channel)
{
	enum doca_ctx_states state;

	return doca_ctx_get_state(channel->end->ctx, &state) == DOCA_SUCCESS && state == DOCA_CTX_STATE_IDLE;
}

static bool has_stopped(void *channel)
{
	return comch_is_idle(channel);
}

void comch_stop(struct channel *channel)
{
	if (!channel->end->ctx)
		return;
	if (!comch_is_idle(channel))
		doca_ctx_stop(channel->end->ctx);
	if (!loop_settle(channel->cfg.loop, STOP_S, has_stopped, channel))
		DOCA_LOG_WARN("The connection doesn't end; it is left as it is");
}

/* --- Sending --- */

static void end_task(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data,
		     doca_error_t result)
{
	channel_on_sent(ctx_data.ptr, result);
	free(task_data.ptr);
	doca_task_free(doca_comch_task_send_as_task(task));
}

void comch_on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	end_task(task, task_data, ctx_data, DOCA_SUCCESS);
}

void comch_on_not_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	end_task(task, task_data, ctx_data, doca_task_get_status(doca_comch_task_send_as_task(task)));
}

/* On success the task owns @bytes. */
static doca_error_t submit(struct channel *channel, uint8_t *bytes, size_t len)
{
	struct doca_comch_task_send *task;
	doca_error_t result = comch_take_task(channel, bytes, (uint32_t)len, &task);

	if (result != DOCA_SUCCESS)
		return result;
	doca_task_set_user_data(doca_comch_task_send_as_task(task), (union doca_data){ .ptr = bytes });
	result = doca_task_submit(doca_comch_task_send_as_task(task));
	if (result != DOCA_SUCCESS)
		doca_task_free(doca_comch_task_send_as_task(task));
	return result;
}

doca_error_t channel_end_send(struct channel *channel, const void *bytes, size_t len)
{
	uint8_t *copy = malloc(len);
	doca_error_t result;

	if (!copy)
		return DOCA_ERROR_NO_MEMORY;
	memcpy(copy, bytes, len);
	result = submit(channel, copy, len);
	if (result != DOCA_SUCCESS)
		free(copy);
	return result;
}
