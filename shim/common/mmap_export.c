/* SPDX-License-Identifier: BSD-3-Clause */
/* Exporting a memory map, and making one of an export. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "dev_priv.h"
#include "mmap_priv.h"
#include "runtime.h"

/* A thread-safe map may be exported by several threads at once. */
static pthread_mutex_t exports_lock = PTHREAD_MUTEX_INITIALIZER;

#define PCI_ACCESS (DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE)

static struct shim_export *export_of(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	struct shim_export *export = mmap->exports;

	while (export && export->dev != dev)
		export = export->next;
	return export;
}

static struct sim_region region_of(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	const uint8_t *cpu = mmap->cpu_base ? mmap->cpu_base : mmap->addr;

	return (struct sim_region){
		.addr = (uintptr_t)mmap->addr,
		.cpu_addr = (uintptr_t)cpu,
		.len_bytes = mmap->len_bytes,
		.access = SIM_ACCESS_READ |
			  (mmap->access & DOCA_ACCESS_FLAG_PCI_READ_WRITE ? (uint32_t)SIM_ACCESS_WRITE : 0),
		.function = shim_dev_function(dev)->id,
		.object_offset = mmap->object_offset,
	};
}

static doca_error_t export_pci(struct doca_mmap *mmap, struct doca_dev *dev, struct shim_export **ret_export)
{
	struct sim_session *session = shim_session();
	struct sim_region region = region_of(mmap, dev);
	struct shim_export *export = calloc(1, sizeof(*export));
	int rc;

	if (!export)
		return DOCA_ERROR_NO_MEMORY;
	rc = sim_session_export(session, &region, mmap->object_fd, &export->key);
	if (rc < 0) {
		free(export);
		if (rc == -ENOTSUP || rc == -ENOMEM)
			return rc == -ENOTSUP ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_NO_MEMORY;
		sim_err("doca_mmap_export_pci: the card refuses (error %d); is its daemon alive? see bfsim ps", -rc);
		return DOCA_ERROR_DRIVER;
	}
	sim_descriptor_encode(sim_session_id(session), &export->key, export->bytes);
	export->dev = dev;
	export->next = mmap->exports;
	mmap->exports = export;
	mmap->session = session;
	mmap->was_exported = true;
	*ret_export = export;
	return DOCA_SUCCESS;
}

/* One export for one device: the first call makes it. */
static doca_error_t export_once(struct doca_mmap *mmap, struct doca_dev *dev, struct shim_export **ret_export)
{
	doca_error_t result = DOCA_SUCCESS;

	pthread_mutex_lock(&exports_lock);
	*ret_export = export_of(mmap, dev);
	if (!*ret_export)
		result = export_pci(mmap, dev, ret_export);
	pthread_mutex_unlock(&exports_lock);
	return result;
}

/* What both kinds of export ask for. */
static doca_error_t check_export(const char *func, const struct doca_mmap *mmap, const struct doca_dev *dev,
				 uint32_t access, const char *missing)
{
	if (!mmap->started) {
		sim_err("%s: the memory map is %s", func,
			shim_mmap_is_imported(mmap) ? "created from an export itself" : "not started; start it first");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	if (!shim_mmap_has_dev(mmap, dev)) {
		sim_err("%s: the device is not in the memory map; add it with doca_mmap_add_dev() before the start", func);
		return DOCA_ERROR_NOT_FOUND;
	}
	if (!(mmap->access & access)) {
		sim_err("%s: the memory map has no %s permission; see doca_mmap_set_permissions()", func, missing);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				  size_t *export_desc_len)
{
	struct shim_export *export;
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(export_desc);
	SHIM_NEED_OUT(export_desc_len);
	result = check_export(__func__, mmap, dev, PCI_ACCESS, "PCI");
	if (result != DOCA_SUCCESS)
		return result;
	if (!shim_dev_function(dev)->caps.mmap_export_pci)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "%s on side %s can't export memory over PCI; the host's devices can",
				   shim_dev_function(dev)->ibdev, shim_dev_function(dev)->side);
	result = export_once(mmap, (struct doca_dev *)(uintptr_t)dev, &export);
	if (result != DOCA_SUCCESS)
		return result;
	*export_desc = export->bytes;
	*export_desc_len = sizeof(export->bytes);
	return DOCA_SUCCESS;
}

int shim_mmap_share(struct doca_mmap *mmap, const struct doca_dev *dev, struct shim_share *ret_share)
{
	struct sim_region region = region_of(mmap, dev);
	int rc;

	region.access |= SIM_ACCESS_CHANNEL;
	rc = sim_session_export(shim_session(), &region, mmap->object_fd, &ret_share->key);
	if (rc < 0)
		return rc;
	ret_share->mmap = mmap;
	ret_share->mmap_serial = mmap->serial;
	mmap->num_holders++;
	return 0;
}

void shim_mmap_unshare(struct shim_share *share)
{
	if (!share->mmap)
		return;
	sim_session_unexport(shim_session(), share->key.id);
	if (shim_mmap_is_same(share->mmap, share->mmap_serial))
		share->mmap->num_holders--;
	share->mmap = NULL;
}

doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				   size_t *export_desc_len)
{
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(export_desc);
	SHIM_NEED_OUT(export_desc_len);
	result = check_export(__func__, mmap, dev,
			      DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC,
			      "RDMA");
	return result == DOCA_SUCCESS ? SHIM_NOT_SIMULATED("RDMA") : result;
}

/* In a forked child a map's exports and import are its parent's, of a session that the child has left. */
static bool is_of_this_session(const struct doca_mmap *mmap)
{
	return mmap->session && mmap->session == shim_session();
}

void shim_mmap_unexport(struct doca_mmap *mmap)
{
	while (mmap->exports) {
		struct shim_export *first = mmap->exports;

		if (is_of_this_session(mmap))
			sim_session_unexport(mmap->session, first->key.id);
		mmap->exports = first->next;
		free(first);
	}
}

void shim_mmap_unimport(struct doca_mmap *mmap)
{
	if (is_of_this_session(mmap))
		sim_session_release(mmap->session, mmap->remote);
	mmap->remote = NULL;
}

static doca_error_t refuse_import(const char *func, int rc)
{
	static const struct {
		int rc;
		doca_error_t result;
		const char *why;
	} answers[] = {
		{-EINVAL, DOCA_ERROR_INVALID_VALUE,
		 "not an unaltered export descriptor of bfsim; was it cut or changed on its way?"},
		{-ESTALE, DOCA_ERROR_DRIVER,
		 "the exported memory is gone (its exporter stopped it or died); export it anew"},
		{-EREMOTE, DOCA_ERROR_INVALID_VALUE,
		 "the descriptor is of another session; start both sides in one (BFSIM_SESSION, bfsim exec)"},
		{-EXDEV, DOCA_ERROR_NOT_PERMITTED,
		 "the memory was exported through another card; use a device of the same card"},
		{-ENOTSUP, DOCA_ERROR_NOT_SUPPORTED, "no data path to the exporter works; the line before says why"},
		{-ENOMEM, DOCA_ERROR_NO_MEMORY, "out of memory"},
	};

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (answers[i].rc == rc) {
			sim_err("%s: %s", func, answers[i].why);
			return answers[i].result;
		}
	}
	sim_err("%s: the card refuses (error %d); is its daemon alive? see bfsim ps", func, -rc);
	return DOCA_ERROR_DRIVER;
}

static int import_remote(const void *export_desc, size_t len, const struct doca_dev *dev,
			 struct sim_remote **ret_remote)
{
	struct sim_session *session = shim_session();
	struct sim_key key;
	int rc = sim_descriptor_decode(sim_session_id(session), export_desc, len, &key);

	if (rc < 0)
		return rc == -ESTALE ? -EREMOTE : rc; /* unlike a key that has ended, it was never one of ours */
	return sim_session_import(session, &key, shim_dev_function(dev)->id, ret_remote);
}

/* A map that stands for imported memory. */
static doca_error_t wrap_remote(struct sim_remote *remote, struct doca_dev *dev, struct doca_mmap **ret_mmap)
{
	struct doca_mmap *mmap = shim_mmap_new();

	if (mmap)
		mmap->devs = malloc(sizeof(struct doca_dev *));
	if (!mmap || !mmap->devs) {
		if (mmap)
			shim_object_free(mmap, SHIM_MMAP);
		return DOCA_ERROR_NO_MEMORY;
	}
	mmap->devs[0] = dev;
	mmap->num_devs = mmap->max_devs = 1;
	shim_dev_hold(dev);
	mmap->session = shim_session();
	mmap->remote = remote;
	mmap->range_set = true;
	mmap->addr = (uint8_t *)(uintptr_t)remote->region.addr;
	mmap->len_bytes = remote->region.len_bytes;
	mmap->access = remote->region.access & SIM_ACCESS_WRITE ? DOCA_ACCESS_FLAG_PCI_READ_WRITE :
								  DOCA_ACCESS_FLAG_PCI_READ_ONLY;
	*ret_mmap = mmap;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
					  size_t export_desc_len, struct doca_dev *dev, struct doca_mmap **mmap)
{
	struct sim_remote *remote;
	doca_error_t result;
	int rc;

	SHIM_NEED_OUT(export_desc);
	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(mmap);
	if (!shim_dev_function(dev)->caps.mmap_from_export_pci)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "%s on side %s can't import memory over PCI; the DPU's devices can",
				   shim_dev_function(dev)->ibdev, shim_dev_function(dev)->side);
	rc = import_remote(export_desc, export_desc_len, dev, &remote);
	if (rc < 0)
		return refuse_import(__func__, rc);
	result = wrap_remote(remote, dev, mmap);
	if (result != DOCA_SUCCESS)
		sim_session_release(shim_session(), remote);
	else if (user_data)
		(*mmap)->user_data = *user_data;
	return result;
}
