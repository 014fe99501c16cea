/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation of log backends: check the arguments, prepare a destination, append the backend to its stream. */
#include "shim/common/base/error.h"
#include "shim/common/log/log_priv.h"
#include "sim/base/log.h"

#include <errno.h>
#include <stdlib.h>

static struct doca_log_backend *backend_alloc(void)
{
	struct doca_log_backend *backend = calloc(1, sizeof(*backend));

	if (!backend)
		sim_err("log backend: no memory to create it");
	return backend;
}

static void limit_init(struct shim_log_limit *limit, uint32_t level, uint32_t bound)
{
	limit->bound = bound;
	atomic_store(&limit->level, level);
}

/* Under the configuration lock: apply the global limits within the bounds, and append @backend to @stream. */
static void backend_publish(struct doca_log_backend *backend, struct shim_log_stream *stream, uint32_t lower_bound,
			    uint32_t upper_bound)
{
	uint32_t lower = atomic_load(&stream->lower), upper = atomic_load(&stream->upper);

	limit_init(&backend->lower, lower < lower_bound ? lower : lower_bound, lower_bound);
	limit_init(&backend->upper, upper > upper_bound ? upper : upper_bound, upper_bound);
	shim_log_stream_add(stream, backend);
}

/* Last step of every creation: @rc is the result of preparing the destination. */
static doca_error_t backend_finish(struct doca_log_backend *backend, int rc, struct shim_log_stream *stream,
				   struct doca_log_backend **ret_backend)
{
	if (rc) {
		free(backend);
		return shim_error_from_errno(rc);
	}
	pthread_mutex_lock(&shim_log_config_lock);
	backend_publish(backend, stream, DOCA_LOG_LEVEL_TRACE, DOCA_LOG_LEVEL_DISABLE);
	pthread_mutex_unlock(&shim_log_config_lock);
	*ret_backend = backend;
	return DOCA_SUCCESS;
}

static doca_error_t create_with_file(struct shim_log_stream *stream, FILE *fptr, struct doca_log_backend **ret_backend)
{
	struct doca_log_backend *backend;

	if (!fptr || !ret_backend) {
		sim_err("file log backend: %s is NULL", fptr ? "backend" : "fptr");
		return DOCA_ERROR_INVALID_VALUE;
	}
	backend = backend_alloc();
	if (!backend)
		return DOCA_ERROR_NO_MEMORY;
	return backend_finish(backend, shim_log_dest_file(&backend->dest, fptr), stream, ret_backend);
}

static doca_error_t create_with_fd(struct shim_log_stream *stream, int fd, struct doca_log_backend **ret_backend)
{
	struct doca_log_backend *backend;
	int rc;

	if (!ret_backend) {
		sim_err("fd log backend: backend is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	backend = backend_alloc();
	if (!backend)
		return DOCA_ERROR_NO_MEMORY;
	rc = shim_log_dest_fd(&backend->dest, fd);
	if (rc == -EBADF) {
		sim_err("fd log backend: descriptor %d is not open for writing", fd);
		rc = -EINVAL;
	}
	return backend_finish(backend, rc, stream, ret_backend);
}

static doca_error_t create_with_buf(struct shim_log_stream *stream, char *buf, size_t capacity,
				    log_flush_callback handler, struct doca_log_backend **ret_backend)
{
	struct doca_log_backend *backend;

	if (!buf || !capacity || !handler || !ret_backend) {
		sim_err("buffer log backend: %s", !buf      ? "buf is NULL" :
						  !capacity ? "the capacity is 0; 256 bytes hold a usual record" :
						  !handler  ? "handler is NULL" :
							      "backend is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	backend = backend_alloc();
	if (!backend)
		return DOCA_ERROR_NO_MEMORY;
	return backend_finish(backend, shim_log_dest_buf(&backend->dest, buf, capacity, handler), stream, ret_backend);
}

static doca_error_t create_with_syslog(struct shim_log_stream *stream, const char *name,
				       struct doca_log_backend **ret_backend)
{
	struct doca_log_backend *backend;

	if (!name || !ret_backend) {
		sim_err("syslog backend: %s is NULL", name ? "backend" : "name");
		return DOCA_ERROR_INVALID_VALUE;
	}
	backend = backend_alloc();
	if (!backend)
		return DOCA_ERROR_NO_MEMORY;
	return backend_finish(backend, shim_log_dest_syslog(&backend->dest, name), stream, ret_backend);
}

/* Two backends: standard error shows the severe levels, standard output the others. A second call
 * creates none, as each record would be shown twice. */
doca_error_t doca_log_backend_create_standard(void)
{
	static bool created; /* under the configuration lock */
	struct doca_log_backend *out = backend_alloc(), *err = backend_alloc();
	doca_error_t result = out && err ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
	bool wanted;

	pthread_mutex_lock(&shim_log_config_lock);
	wanted = result == DOCA_SUCCESS && !created;
	if (wanted) {
		shim_log_dest_file(&out->dest, stdout);
		shim_log_dest_file(&err->dest, stderr);
		backend_publish(out, &shim_log_app, DOCA_LOG_LEVEL_TRACE, DOCA_LOG_LEVEL_INFO);
		backend_publish(err, &shim_log_app, DOCA_LOG_LEVEL_WARNING, DOCA_LOG_LEVEL_DISABLE);
		created = true;
	}
	pthread_mutex_unlock(&shim_log_config_lock);
	if (!wanted) {
		free(out);
		free(err);
	}
	return result;
}

doca_error_t doca_log_backend_create_with_file(FILE *fptr, struct doca_log_backend **backend)
{
	return create_with_file(&shim_log_app, fptr, backend);
}

doca_error_t doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend)
{
	return create_with_file(&shim_log_sdk, fptr, backend);
}

doca_error_t doca_log_backend_create_with_fd(int fd, struct doca_log_backend **backend)
{
	return create_with_fd(&shim_log_app, fd, backend);
}

doca_error_t doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend)
{
	return create_with_fd(&shim_log_sdk, fd, backend);
}

doca_error_t doca_log_backend_create_with_buf(char *buf, size_t capacity, log_flush_callback handler,
					      struct doca_log_backend **backend)
{
	return create_with_buf(&shim_log_app, buf, capacity, handler, backend);
}

doca_error_t doca_log_backend_create_with_buf_sdk(char *buf, size_t capacity, log_flush_callback handler,
						  struct doca_log_backend **backend)
{
	return create_with_buf(&shim_log_sdk, buf, capacity, handler, backend);
}

doca_error_t doca_log_backend_create_with_syslog(const char *name, struct doca_log_backend **backend)
{
	return create_with_syslog(&shim_log_app, name, backend);
}

doca_error_t doca_log_backend_create_with_syslog_sdk(const char *name, struct doca_log_backend **backend)
{
	return create_with_syslog(&shim_log_sdk, name, backend);
}
