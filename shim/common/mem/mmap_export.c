/* SPDX-License-Identifier: BSD-3-Clause */
/* Export of a memory map, import of one, and shares for Comch consumers. */
#include <pthread.h>
#include <stdlib.h>

#include "shim/common/base/alloc.h"
#include "shim/common/base/check.h"
#include "shim/common/dev/dev_priv.h"
#include "export.h"
#include "mmap_priv.h"
#include "shim/common/process/runtime.h"
#include "sim/base/fork.h"
#include "sim/fabric/remote.h"

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_DEFINED_IF_ADDRESSABLE(addr, len_bytes) 0
#endif

/* Several threads may export a thread-safe map. */
static pthread_mutex_t exports_lock = PTHREAD_MUTEX_INITIALIZER;

SIM_AT_FORK(SIM_FORK_USERS, .lock = &exports_lock);

#define RDMA_ACCESS (DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC)
#define PCI_ACCESS  (DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE)

static uint32_t pci_access(const struct doca_mmap *mmap)
{
	return SIM_ACCESS_READ | (mmap->access & DOCA_ACCESS_FLAG_PCI_READ_WRITE ? (uint32_t)SIM_ACCESS_WRITE : 0);
}

static uint32_t rdma_access(const struct doca_mmap *mmap)
{
	return SIM_ACCESS_NET | (mmap->access & DOCA_ACCESS_FLAG_RDMA_READ ? (uint32_t)SIM_ACCESS_READ : 0) |
	       (mmap->access & DOCA_ACCESS_FLAG_RDMA_WRITE ? (uint32_t)SIM_ACCESS_WRITE : 0) |
	       (mmap->access & DOCA_ACCESS_FLAG_RDMA_ATOMIC ?
			(uint32_t)(SIM_ACCESS_ATOMIC | SIM_ACCESS_READ | SIM_ACCESS_WRITE) :
			0);
}

static struct sim_region make_region(const struct doca_mmap *mmap, const struct doca_dev *dev, uint32_t access)
{
	const uint8_t *cpu = mmap->cpu_base ? mmap->cpu_base : mmap->addr;

	return (struct sim_region){
		.addr = (uintptr_t)mmap->addr,
		.cpu_addr = (uintptr_t)cpu,
		.len_bytes = mmap->len_bytes,
		.access = access,
		.function = shim_dev_function(dev)->id,
		.object_offset = mmap->object_offset,
	};
}

/* Valgrind does not see the writes of other processes: from now on all of the memory counts as defined. */
static void mark_defined_for_valgrind(const struct sim_region *region)
{
	if (region->access & SIM_ACCESS_WRITE)
		(void)VALGRIND_MAKE_MEM_DEFINED_IF_ADDRESSABLE(region->cpu_addr, region->len_bytes);
}

static doca_error_t export_to(const char *func, struct doca_mmap *mmap, struct doca_dev *dev, uint32_t access,
			      struct shim_export **ret_export)
{
	struct sim_region region = make_region(mmap, dev, access);
	doca_error_t result;

	mark_defined_for_valgrind(&region);
	pthread_mutex_lock(&exports_lock);
	result = shim_export_get_or_create(func, &mmap->exports, dev, &region, mmap->object_fd, ret_export);
	if (result == DOCA_SUCCESS) {
		mmap->session = shim_session();
		if (!shim_mmap_was_exported(mmap))
			shim_mmap_set_state(mmap, SHIM_MMAP_EXPORTED);
	}
	pthread_mutex_unlock(&exports_lock);
	return result;
}

static doca_error_t check_has_dev(const char *func, const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	if (shim_mmap_has_dev(mmap, dev))
		return DOCA_SUCCESS;
	sim_err("%s: the device is not in the memory map; add it with doca_mmap_add_dev() before the start", func);
	return DOCA_ERROR_NOT_FOUND;
}

/* Checks that both kinds of export of a map of this process share. */
static doca_error_t check_export(const char *func, const struct doca_mmap *mmap, const struct doca_dev *dev,
				 uint32_t access, const char *missing)
{
	doca_error_t result;

	if (!shim_mmap_is_started(mmap)) {
		sim_err("%s: the memory map is %s", func,
			shim_mmap_is_imported(mmap) ? "created from an export itself" : "not started; start it first");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	result = check_has_dev(func, mmap, dev);
	if (result != DOCA_SUCCESS)
		return result;
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
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED,
				   "%s on side %s can't export memory over PCI (mmap-export-pci in the topology)",
				   shim_dev_function(dev)->ibdev, shim_dev_function(dev)->side);
	result = shim_fault_inject(shim_dev_function(dev), SIM_OP_MMAP_EXPORT, mmap->len_bytes, (uintptr_t)mmap->addr);
	if (result == DOCA_SUCCESS)
		result = export_to(__func__, mmap, (struct doca_dev *)(uintptr_t)dev, pci_access(mmap), &export);
	if (result != DOCA_SUCCESS)
		return result;
	*export_desc = export->bytes;
	*export_desc_len = sizeof(export->bytes);
	return DOCA_SUCCESS;
}

int shim_mmap_share(struct doca_mmap *mmap, const struct doca_dev *dev, struct shim_share *ret_share)
{
	struct sim_region region = make_region(mmap, dev, pci_access(mmap) | SIM_ACCESS_CHANNEL);
	int rc;

	mark_defined_for_valgrind(&region);
	rc = sim_session_export(shim_session(), &region, mmap->object_fd, &ret_share->key);
	if (rc < 0)
		return rc;
	ret_share->mmap = mmap;
	ret_share->mmap_serial = mmap->serial;
	mmap->num_users++;
	return 0;
}

void shim_mmap_unshare(struct shim_share *share)
{
	if (!share->mmap)
		return;
	sim_session_unexport(shim_session(), share->key.id);
	if (shim_mmap_is_same(share->mmap, share->mmap_serial))
		share->mmap->num_users--;
	share->mmap = NULL;
}

/* Memory of the card's other side, to which this side gives the network access. */
static bool is_imported_from_card(const struct doca_mmap *mmap)
{
	return shim_mmap_is_imported(mmap) && !(mmap->remote->region.access & SIM_ACCESS_NET);
}

static doca_error_t export_again(const char *func, struct doca_mmap *mmap, struct doca_dev *dev,
				 struct shim_export **ret_export)
{
	doca_error_t result;

	pthread_mutex_lock(&exports_lock);
	result = shim_export_get_or_create_again(func, &mmap->exports, dev, mmap->remote, ret_export);
	pthread_mutex_unlock(&exports_lock);
	return result;
}

doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
				   size_t *export_desc_len)
{
	struct doca_dev *mutable_dev = (struct doca_dev *)(uintptr_t)dev; /* its count of users changes */
	struct shim_export *export;
	doca_error_t result;

	SHIM_NEED(mmap, SHIM_MMAP);
	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(export_desc);
	SHIM_NEED_OUT(export_desc_len);
	result = is_imported_from_card(mmap) ? check_has_dev(__func__, mmap, dev) :
					       check_export(__func__, mmap, dev, RDMA_ACCESS, "RDMA");
	if (result != DOCA_SUCCESS)
		return result;
	if (!shim_dev_function(dev)->caps.rdma)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED, "%s on side %s has no RDMA (rdma in the topology)",
				   shim_dev_function(dev)->ibdev, shim_dev_function(dev)->side);
	result = shim_fault_inject(shim_dev_function(dev), SIM_OP_MMAP_EXPORT, mmap->len_bytes, (uintptr_t)mmap->addr);
	if (result == DOCA_SUCCESS)
		result = is_imported_from_card(mmap) ?
				 export_again(__func__, mmap, mutable_dev, &export) :
				 export_to(__func__, mmap, mutable_dev, rdma_access(mmap), &export);
	if (result != DOCA_SUCCESS)
		return result;
	*export_desc = export->bytes;
	*export_desc_len = sizeof(export->bytes);
	return DOCA_SUCCESS;
}

/* The permissions of an imported map. */
static uint32_t imported_access(const struct sim_region *region)
{
	if (region->access & SIM_ACCESS_NET)
		return (region->access & SIM_ACCESS_READ ? (uint32_t)DOCA_ACCESS_FLAG_RDMA_READ : 0) |
		       (region->access & SIM_ACCESS_WRITE ? (uint32_t)DOCA_ACCESS_FLAG_RDMA_WRITE : 0) |
		       (region->access & SIM_ACCESS_ATOMIC ? (uint32_t)DOCA_ACCESS_FLAG_RDMA_ATOMIC : 0);
	return region->access & SIM_ACCESS_WRITE ? DOCA_ACCESS_FLAG_PCI_READ_WRITE : DOCA_ACCESS_FLAG_PCI_READ_ONLY;
}

static doca_error_t create_imported_mmap(struct sim_remote *remote, struct doca_dev *dev, struct doca_mmap **ret_mmap)
{
	struct doca_mmap *mmap = shim_mmap_new();

	if (mmap)
		mmap->devs = shim_malloc(sizeof(struct doca_dev *));
	if (!mmap || !mmap->devs) {
		if (mmap)
			shim_object_free(mmap, SHIM_MMAP);
		return DOCA_ERROR_NO_MEMORY;
	}
	shim_mmap_set_state(mmap, SHIM_MMAP_IMPORTED);
	mmap->first_dev = mmap->devs[0] = dev;
	mmap->num_devs = mmap->max_devs = 1;
	shim_dev_hold(dev);
	shim_mmap_take_keys(mmap);
	mmap->session = shim_session();
	mmap->remote = remote;
	mmap->range_set = true;
	mmap->addr = (uint8_t *)(uintptr_t)remote->region.addr;
	mmap->len_bytes = remote->region.len_bytes;
	mmap->access = imported_access(&remote->region);
	*ret_mmap = mmap;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
					  size_t export_desc_len, struct doca_dev *dev, struct doca_mmap **mmap)
{
	struct sim_remote *remote;
	doca_error_t result;

	SHIM_NEED_OUT(export_desc);
	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(mmap);
	if (!shim_dev_function(dev)->caps.mmap_from_export_pci && !shim_dev_function(dev)->caps.rdma)
		return SHIM_REFUSE(DOCA_ERROR_NOT_SUPPORTED,
				   "%s on side %s can't import memory over PCI (mmap-from-export-pci in the topology)",
				   shim_dev_function(dev)->ibdev, shim_dev_function(dev)->side);
	result = shim_import(__func__, export_desc, export_desc_len, dev, false, &remote);
	if (result != DOCA_SUCCESS)
		return result;
	result = shim_fault_inject(shim_dev_function(dev), SIM_OP_MMAP_IMPORT, remote->region.len_bytes, 0);
	if (result == DOCA_SUCCESS)
		result = create_imported_mmap(remote, dev, mmap);
	if (result != DOCA_SUCCESS)
		shim_import_release(remote, shim_session());
	else if (user_data)
		(*mmap)->user_data = *user_data;
	return result;
}
