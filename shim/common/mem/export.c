/* SPDX-License-Identifier: BSD-3-Clause */
/* Exports to the card's other side and imports from it, for memory maps and sync events. */
#include "export.h"

#include <errno.h>
#include <stdlib.h>

#include "shim/common/base/alloc.h"
#include "shim/common/base/error.h"
#include "shim/common/process/runtime.h"
#include "sim/base/log.h"
#include "sim/fabric/remote.h"

static doca_error_t fail_refused(const char *func, int rc)
{
	sim_err("%s: the card refuses (error %d); is its daemon alive? see bfsim ps", func, -rc);
	return DOCA_ERROR_DRIVER;
}

/* ---- exports ---- */

static struct shim_export *find_export(struct shim_export *export, const struct doca_dev *dev, bool is_net)
{
	while (export && (export->dev != dev || export->is_net != is_net))
		export = export->next;
	return export;
}

/* What to export: memory of this process, or memory that it has imported. */
struct source {
	const struct sim_region *region;
	int object_fd;
	const struct sim_remote *remote; /* NULL = of this process */
};

static int export_source(const struct source *source, const struct doca_dev *dev, struct sim_key *ret_key)
{
	return source->remote ? sim_session_export_imported(shim_session(), source->remote, shim_dev_function(dev)->id,
							    ret_key) :
				sim_session_export(shim_session(), source->region, source->object_fd, ret_key);
}

static doca_error_t fail_export(const char *func, int rc)
{
	if (rc == -ESTALE) {
		sim_err("%s: the memory is gone (its exporter stopped it or died)", func);
		return DOCA_ERROR_DRIVER;
	}
	return rc == -ENOTSUP || rc == -ENOMEM || rc == -EACCES ? shim_error_from_errno(rc) : fail_refused(func, rc);
}

static doca_error_t get_or_create(const char *func, struct shim_export **exports, struct doca_dev *dev, bool is_net,
				  const struct source *source, struct shim_export **ret_export)
{
	struct shim_export *export = find_export(*exports, dev, is_net);
	int rc;

	if (shim_dev_is_stale(dev)) {
		sim_err("%s: the function was reset, failed or was removed; close the device and open it again", func);
		return DOCA_ERROR_DRIVER;
	}
	if (export) {
		*ret_export = export;
		return DOCA_SUCCESS;
	}
	export = shim_calloc(1, sizeof(struct shim_export));
	if (!export)
		return DOCA_ERROR_NO_MEMORY;
	rc = export_source(source, dev, &export->key);
	if (rc < 0) {
		free(export);
		return fail_export(func, rc);
	}
	sim_descriptor_encode(sim_session_id(shim_session()), &export->key, export->bytes);
	shim_dev_hold(dev);
	export->dev = dev;
	export->is_net = is_net;
	export->next = *exports;
	*exports = export;
	*ret_export = export;
	return DOCA_SUCCESS;
}

doca_error_t shim_export_get_or_create(const char *func, struct shim_export **exports, struct doca_dev *dev,
				       const struct sim_region *region, int object_fd, struct shim_export **ret_export)
{
	const struct source source = { .region = region, .object_fd = object_fd };

	return get_or_create(func, exports, dev, region->access & SIM_ACCESS_NET, &source, ret_export);
}

doca_error_t shim_export_get_or_create_again(const char *func, struct shim_export **exports, struct doca_dev *dev,
					     const struct sim_remote *remote, struct shim_export **ret_export)
{
	const struct source source = { .object_fd = -1, .remote = remote };

	return get_or_create(func, exports, dev, true, &source, ret_export);
}

static bool is_current_session(const struct sim_session *session)
{
	return session && session == shim_session();
}

void shim_exports_revoke(struct shim_export **exports, struct sim_session *session)
{
	while (*exports) {
		struct shim_export *first = *exports;

		if (is_current_session(session))
			sim_session_unexport(session, first->key.id);
		*exports = first->next;
		shim_dev_release(first->dev);
		free(first);
	}
}

/* ---- imports ---- */

/* The importing function has no relation to @exporter: log what relates two functions. */
static void log_unrelated(const char *func, const struct pcie_function *importer, const struct pcie_function *exporter)
{
	const struct pcie_function *dpu = pcie_side_is_dpu(exporter->side) ? exporter : importer;
	const struct pcie_function *host = dpu == exporter ? importer : exporter;
	const struct pcie_function *holder =
		pcie_topology_find_rep_holder(sim_session_topology(shim_session()), host->id);
	char names[4][PCIE_FUNCTION_TEXT_SIZE] = { "", "", "", "no device" };

	pcie_function_format(importer, names[0]);
	pcie_function_format(exporter, names[1]);
	pcie_function_format(host, names[2]);
	if (holder)
		pcie_function_format(holder, names[3]);
	if (!pcie_side_is_dpu(dpu->side))
		sim_err("%s: %s can't import what was exported through %s: they belong to two hosts; exchange memory with the DPU",
			func, names[0], names[1]);
	else
		sim_err("%s: %s can't import what was exported through %s: %s holds the representor of %s; %slist \"%s\" under represents of %s in the topology",
			func, names[0], names[1], names[3], names[2], holder ? "use that device, or " : "", names[2],
			names[dpu == importer ? 0 : 1]);
}

static doca_error_t refuse_unrelated(const char *func, int rc, const struct pcie_function *importer,
				     const struct pcie_function *exporter)
{
	char importer_name[PCIE_FUNCTION_TEXT_SIZE], exporter_name[PCIE_FUNCTION_TEXT_SIZE];

	if (rc == -EPERM) {
		log_unrelated(func, importer, exporter);
		return shim_error_from_errno(rc);
	}
	pcie_function_format(importer, importer_name);
	pcie_function_format(exporter, exporter_name);
	sim_err("%s: %s can't import what was exported through %s, which is on another card; use a device of the same card",
		func, importer_name, exporter_name);
	return shim_error_from_errno(rc);
}

static doca_error_t fail_import(const char *func, int rc)
{
	static const struct {
		int rc;
		const char *message;
	} messages[] = {
		{ -EINVAL, "not an unaltered export descriptor of bfsim; was it cut or changed on its way?" },
		{ -ESTALE, "the exported memory is gone (its exporter stopped it or died); export it again" },
		{ -EREMOTE,
		  "the descriptor is of another session; start both sides in one (BFSIM_SESSION, bfsim exec)" },
		{ -ENODEV, "the function was reset, failed or was removed; close the device and open it again" },
		{ -EMEDIUMTYPE,
		  "the descriptor is of another kind of object: each of those that export takes its own" },
		{ -ETIMEDOUT, "the exporter does not answer; is it stopped? the line before says more" },
		{ -ENOTSUP,
		  "no data path to the exporter works (the line before says why), or the device can't import" },
		{ -ENOMEM, "out of memory" },
	};

	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		if (messages[i].rc != rc)
			continue;
		sim_err("%s: %s", func, messages[i].message);
		/* The reference has no time-out of an import. It is not NOT_SUPPORTED: the next try may succeed. */
		return rc == -ETIMEDOUT ? DOCA_ERROR_DRIVER : shim_error_from_errno(rc);
	}
	return fail_refused(func, rc);
}

static int import_region(const void *descriptor, size_t len, const struct doca_dev *dev, bool wants_sync,
			 struct sim_remote **ret_remote, uint32_t *ret_exporter)
{
	struct sim_session *session = shim_session();
	struct sim_remote *remote;
	struct sim_key key;
	int rc = shim_dev_is_stale(dev) ? -ENODEV :
					  sim_descriptor_decode(sim_session_id(session), descriptor, len, &key);

	if (rc < 0)
		return rc == -ESTALE ? -EREMOTE :
				       rc; /* the key is of another session; -ESTALE is an ended key of this one */
	rc = sim_session_import(session, &key, shim_dev_function(dev)->id, &remote, ret_exporter);
	if (rc < 0)
		return rc;
	if (wants_sync != !!(remote->region.access & SIM_ACCESS_SYNC) || remote->region.access & SIM_ACCESS_INBOX) {
		sim_session_release(session, remote);
		return -EMEDIUMTYPE;
	}
	*ret_remote = remote;
	return 0;
}

doca_error_t shim_import(const char *func, const void *descriptor, size_t len, const struct doca_dev *dev,
			 bool wants_sync, struct sim_remote **ret_remote)
{
	const struct pcie_topology *topology = sim_session_topology(shim_session());
	uint32_t exporter = UINT32_MAX;
	int rc = import_region(descriptor, len, dev, wants_sync, ret_remote, &exporter);

	if ((rc == -EXDEV || rc == -EPERM) && exporter < topology->num_functions)
		return refuse_unrelated(func, rc, shim_dev_function(dev), &topology->functions[exporter]);
	return rc < 0 ? fail_import(func, rc) : DOCA_SUCCESS;
}

void shim_import_release(struct sim_remote *remote, struct sim_session *session)
{
	if (is_current_session(session))
		sim_session_release(session, remote);
}
