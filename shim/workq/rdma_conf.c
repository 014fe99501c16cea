/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA: properties of contexts, which are set before the start, and capabilities of devices. */
#include "rdma_priv.h"
#include "shim/common/base/check.h"

#define ALL_PERMISSIONS \
	(DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC)
#define MAX_SL           15
#define DEFAULT_QUEUE    128        /* our choice (doc/rdma.md) */
#define MAX_QUEUE_ANYHOW (1u << 30) /* without a device: a power of two that can be doubled */

#define NEED_STOPPED(rdma)                                                                                           \
	do {                                                                                                         \
		SHIM_NEED(rdma, SHIM_WORKQ_RDMA);                                                                    \
		if ((rdma)->ctx.started)                                                                             \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the context is started; set it before the start"); \
	} while (0)

#define NEED_DEVICE(rdma)                                                                               \
	do {                                                                                            \
		if (!(rdma)->ctx.dev)                                                                   \
			return SHIM_REFUSE(DOCA_ERROR_BAD_STATE,                                        \
					   "the context has no device; call doca_ctx_dev_add() first"); \
	} while (0)

#define GETTER(name, type, out, value)                                             \
	doca_error_t doca_rdma_get_##name(const struct doca_rdma *rdma, type *out) \
	{                                                                          \
		SHIM_NEED(rdma, SHIM_WORKQ_RDMA);                                  \
		SHIM_NEED_OUT(out);                                                \
		NEED_DEVICE(rdma);                                                 \
		*out = (value);                                                    \
		return DOCA_SUCCESS;                                               \
	}

void workq_rdma_set_defaults(struct workq_rdma_cfg *cfg)
{
	*cfg = (struct workq_rdma_cfg){
		.send_queue_size = DEFAULT_QUEUE,
		.recv_queue_size = DEFAULT_QUEUE,
		.recv_list_len = 1,
		.mtu = DOCA_MTU_SIZE_4K_BYTES,
	};
}

/* ---- capabilities ---- */

static bool is_job(enum doca_rdma_job_types type)
{
	return type >= DOCA_RDMA_JOB_RECV && type <= DOCA_RDMA_JOB_ATOMIC_FETCH_ADD;
}

doca_error_t doca_rdma_job_get_supported(const struct doca_devinfo *devinfo, enum doca_rdma_job_types job_type)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	if (!is_job(job_type))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%d is no job of libdoca_rdma", (int)job_type);
	return core_rdma_cap_task_send_is_supported(devinfo); /* a device has all, or none */
}

static doca_error_t check_transport(const char *func, enum doca_rdma_transport_type type)
{
	if (type == DOCA_RDMA_TRANSPORT_RC)
		return DOCA_SUCCESS;
	if (type == DOCA_RDMA_TRANSPORT_DC)
		return DOCA_ERROR_NOT_SUPPORTED;
	sim_err("%s: %d is no transport type", func, (int)type);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_rdma_get_transport_type_supported(const struct doca_devinfo *devinfo,
						    enum doca_rdma_transport_type transport_type)
{
	doca_error_t result;

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	result = check_transport(__func__, transport_type);
	return result == DOCA_SUCCESS ? core_rdma_cap_task_send_is_supported(devinfo) : result;
}

doca_error_t doca_rdma_get_max_buf_chain_len(const struct doca_devinfo *devinfo, enum doca_rdma_job_types job_type,
					     enum doca_rdma_transport_type transport_type, uint32_t *max_buf_chain_len)
{
	doca_error_t result;

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(max_buf_chain_len);
	if (!is_job(job_type))
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%d is no job of libdoca_rdma", (int)job_type);
	result = check_transport(__func__, transport_type);
	if (result == DOCA_SUCCESS && job_type != DOCA_RDMA_JOB_RECV)
		result = core_rdma_cap_get_max_send_buf_list_len(devinfo, max_buf_chain_len);
	else if (result == DOCA_SUCCESS)
		*max_buf_chain_len = workq_rdma_max_recv_list_len(devinfo);
	return result;
}

/* ---- sizes ---- */

static const struct doca_devinfo *devinfo_of(const struct doca_rdma *rdma)
{
	return doca_dev_as_devinfo(rdma->ctx.dev);
}

typedef doca_error_t get_limit(const struct doca_devinfo *devinfo, uint32_t *limit);

static doca_error_t check_queue(const char *func, const struct doca_rdma *rdma, uint32_t size, get_limit *get_max)
{
	uint32_t max = MAX_QUEUE_ANYHOW;

	if (size == 0) {
		sim_err("%s: 0 jobs; give 1 or more", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (rdma->ctx.dev)
		get_max(devinfo_of(rdma), &max);
	if (size <= max)
		return DOCA_SUCCESS;
	sim_err("%s: a queue of %u jobs; the device has %u at most (doca_rdma_get_max_send_queue_size, doca_rdma_get_max_recv_queue_size)",
		func, size, max);
	return DOCA_ERROR_NOT_SUPPORTED;
}

static doca_error_t check_list(const char *func, const struct doca_rdma *rdma, uint32_t len)
{
	uint32_t max = rdma->ctx.dev ? workq_rdma_max_recv_list_len(devinfo_of(rdma)) : UINT32_MAX;

	if (len > 0 && len <= max)
		return DOCA_SUCCESS;
	sim_err("%s: a list of %u buffers; give 1 to %u (doca_rdma_get_max_buf_chain_len)", func, len, max);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t workq_rdma_check_sizes(const struct doca_rdma *rdma)
{
	static const char func[] = "doca_ctx_start";
	doca_error_t result = check_queue(func, rdma, rdma->cfg.send_queue_size, doca_rdma_get_max_send_queue_size);

	if (result == DOCA_SUCCESS)
		result = check_queue(func, rdma, rdma->cfg.recv_queue_size, doca_rdma_get_max_recv_queue_size);
	return result == DOCA_SUCCESS ? check_list(func, rdma, rdma->cfg.recv_list_len) : result;
}

static uint32_t round_up_to_power_of_two(uint32_t value)
{
	uint32_t power = 1;

	while (power < value)
		power *= 2;
	return power;
}

doca_error_t doca_rdma_set_send_queue_size(struct doca_rdma *rdma, uint32_t send_queue_size)
{
	doca_error_t result;

	NEED_STOPPED(rdma);
	result = check_queue(__func__, rdma, send_queue_size, doca_rdma_get_max_send_queue_size);
	if (result == DOCA_SUCCESS)
		rdma->cfg.send_queue_size = round_up_to_power_of_two(send_queue_size);
	return result;
}

GETTER(send_queue_size, uint32_t, send_queue_size, rdma->cfg.send_queue_size)

doca_error_t doca_rdma_set_recv_queue_size(struct doca_rdma *rdma, uint32_t recv_queue_size)
{
	doca_error_t result;

	NEED_STOPPED(rdma);
	result = check_queue(__func__, rdma, recv_queue_size, doca_rdma_get_max_recv_queue_size);
	if (result == DOCA_SUCCESS)
		rdma->cfg.recv_queue_size = round_up_to_power_of_two(recv_queue_size);
	return result;
}

GETTER(recv_queue_size, uint32_t, recv_queue_size, rdma->cfg.recv_queue_size)

doca_error_t doca_rdma_set_recv_buf_chain_len(struct doca_rdma *rdma, uint32_t recv_buf_chain_len)
{
	doca_error_t result;

	NEED_STOPPED(rdma);
	result = check_list(__func__, rdma, recv_buf_chain_len);
	if (result == DOCA_SUCCESS)
		rdma->cfg.recv_list_len = recv_buf_chain_len;
	return result;
}

GETTER(recv_buf_chain_len, uint32_t, recv_buf_chain_len, rdma->cfg.recv_list_len)

/* ---- the connection ---- */

doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma, enum doca_rdma_transport_type transport_type)
{
	NEED_STOPPED(rdma);
	if (transport_type == DOCA_RDMA_TRANSPORT_DC)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "releases up to 2.2 have DOCA_RDMA_TRANSPORT_RC alone");
	return check_transport(__func__, transport_type);
}

GETTER(transport_type, enum doca_rdma_transport_type, transport_type, DOCA_RDMA_TRANSPORT_RC)

doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu)
{
	NEED_STOPPED(rdma);
	if ((uint32_t)mtu > DOCA_MTU_SIZE_RAW_ETHERNET)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%d is no MTU (enum doca_mtu_size)", (int)mtu);
	if (mtu > DOCA_MTU_SIZE_4K_BYTES)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "%d; give DOCA_MTU_SIZE_256_BYTES to _4K_BYTES", (int)mtu);
	rdma->cfg.mtu = mtu;
	return DOCA_SUCCESS;
}

GETTER(mtu, enum doca_mtu_size, mtu, rdma->cfg.mtu)

doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t permissions)
{
	NEED_STOPPED(rdma);
	NEED_DEVICE(rdma);
	if (permissions & ~(uint32_t)ALL_PERMISSIONS)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "0x%x has bits besides DOCA_ACCESS_LOCAL_READ_WRITE and those of RDMA", permissions);
	rdma->cfg.permissions = permissions;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_permissions(struct doca_rdma *rdma, uint32_t *permissions)
{
	SHIM_NEED(rdma, SHIM_WORKQ_RDMA);
	SHIM_NEED_OUT(permissions);
	NEED_DEVICE(rdma);
	*permissions = rdma->cfg.permissions;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, bool grh_enabled)
{
	NEED_STOPPED(rdma);
	NEED_DEVICE(rdma);
	if (!grh_enabled)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "packets on Ethernet have a global routing header");
	return DOCA_SUCCESS;
}

GETTER(grh_enabled, bool, grh_enabled, true)

doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index)
{
	uint32_t num_gids = 0;

	NEED_STOPPED(rdma);
	NEED_DEVICE(rdma);
	doca_rdma_get_gid_table_size(doca_dev_as_devinfo(rdma->ctx.dev), &num_gids);
	if (gid_index >= num_gids)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE,
				   "%u; the device has %u GIDs (doca_rdma_get_gid_table_size)", gid_index, num_gids);
	rdma->cfg.gid_index = gid_index;
	rdma->cfg.has_gid_index = true;
	return DOCA_SUCCESS;
}

GETTER(gid_index, uint32_t, gid_index, rdma->cfg.gid_index)

doca_error_t doca_rdma_set_sl(struct doca_rdma *rdma, uint32_t sl)
{
	NEED_STOPPED(rdma);
	if (sl > MAX_SL)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "service level %u; give 0 to %u", sl, MAX_SL);
	rdma->cfg.sl = sl;
	return DOCA_SUCCESS;
}

GETTER(sl, uint32_t, sl, rdma->cfg.sl)
