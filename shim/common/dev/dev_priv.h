/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/dev/dev_priv.h - devices, for the other folders of the shim. */
#ifndef SHIM_DEV_PRIV_H
#define SHIM_DEV_PRIV_H

#include <doca_dev.h>

#include "pcie_model/topology/topology.h"
#include "shim/common/base/check.h"
#include "shim/common/base/object.h"
#include "shim/common/process/fault.h"
#include "sim/state/function_status.h"

struct doca_devinfo {
	struct shim_object object;
	const struct pcie_function *function;
};

/* Define a getter of a property of a device, and a function that says by @condition whether a device has something. */
#define SHIM_DEFINE_DEVINFO_GETTER(name, type, out, value) \
	SHIM_DEFINE_GETTER(name, const struct doca_devinfo, devinfo, SHIM_DEVINFO, type, out, value)
#define SHIM_DEFINE_IS_SUPPORTED(name, condition)                             \
	doca_error_t name(const struct doca_devinfo *devinfo)                 \
	{                                                                     \
		SHIM_NEED(devinfo, SHIM_DEVINFO);                             \
		return (condition) ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED; \
	}

/* A function that the process opened. */
struct doca_dev {
	struct shim_object object;
	struct doca_devinfo *devinfo;         /* owned by the table of devices, as the doca_dev */
	const struct pcie_function *function; /* outlives the devinfo in a forked child */
	const _Atomic uint64_t *status_word;  /* the function's (sim/state/function_status.h) */
	uint64_t function_generation;         /* the function's at the open; the device is stale when it differs */
	uint32_t open_count; /* opens minus closes; 0 = of a session that was left, held by its users */
	uint32_t users;      /* memory maps, contexts and representors that hold it */
};

struct doca_devinfo_rep {
	struct shim_object object;
	struct doca_dev *dev;                  /* the device that listed it */
	const struct pcie_function *listed_by; /* the function of that device at that time */
	const struct pcie_function *function;  /* the function that it represents */
};

struct doca_dev_rep {
	struct shim_object object;
	struct doca_devinfo_rep *devinfo; /* a copy of its own */
};

/* Hold a device, so that its last close is refused; and release it. */
SHIM_INTERNAL_API void shim_dev_hold(struct doca_dev *dev);
SHIM_INTERNAL_API void shim_dev_release(struct doca_dev *dev);

/* The card's real time (doca_clock.h): of its NIC and of its DPA. */
SHIM_INTERNAL_API uint64_t shim_nic_real_time_ns(void);

/* The function behind a device. */
/* The times that the topology gives @dev's card; all 0 without a device, and in functional mode. */
SHIM_INTERNAL_API struct pcie_timing shim_dev_timing(const struct doca_dev *dev);

static inline const struct pcie_function *shim_dev_function(const struct doca_dev *dev)
{
	return dev->function;
}

/* Returns whether the function was reset, failed or was removed since the open. Then the device must be closed and
 * opened again. */
static inline bool shim_dev_is_stale(const struct doca_dev *dev)
{
	return sim_function_generation(atomic_load_explicit(dev->status_word, memory_order_acquire)) !=
	       dev->function_generation;
}

#endif
