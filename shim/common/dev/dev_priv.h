/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices, as the rest of the shim sees them. */
#ifndef SHIM_DEV_PRIV_H
#define SHIM_DEV_PRIV_H

#include <doca_dev.h>

#include "pcie_model/topology/topology.h"
#include "shim/common/base/object.h"
#include "shim/common/process/fault.h"
#include "sim/state/function_status.h"

struct doca_devinfo {
	struct shim_object object;
	const struct pcie_function *function;
};

/* One for each opened function of the process. */
struct doca_dev {
	struct shim_object object;
	struct doca_devinfo *devinfo;         /* owned by the table of devices, as is the doca_dev */
	const struct pcie_function *function; /* outlives the devinfo in a forked child */
	const _Atomic uint64_t *status_word;  /* what has become of the function (sim/state/function_status.h) */
	uint64_t function_generation; /* the function's, when it was opened: if another has begun, nothing works here */
	uint32_t open_count;          /* opens less closes; 0 = of a session that was left, held by its users alone */
	uint32_t users;               /* memory maps, contexts and representors that hold on to it */
};

struct doca_devinfo_rep {
	struct shim_object object;
	struct doca_dev *dev;                  /* through which it was listed */
	const struct pcie_function *listed_by; /* what that device was then */
	const struct pcie_function *function;  /* what it represents */
};

struct doca_dev_rep {
	struct shim_object object;
	struct doca_devinfo_rep *devinfo; /* its own copy */
};

/* Hold on to a device, so that its last close is refused; and let go. */
SHIM_INTERNAL_API void shim_dev_hold(struct doca_dev *dev);
SHIM_INTERNAL_API void shim_dev_release(struct doca_dev *dev);

/* The function behind a device. */
static inline const struct pcie_function *shim_dev_function(const struct doca_dev *dev)
{
	return dev->function;
}

/* Whether the function was reset, failed or was removed since the device was opened: it
 * must be closed and opened again. */
static inline bool shim_dev_is_stale(const struct doca_dev *dev)
{
	return sim_function_generation(atomic_load_explicit(dev->status_word, memory_order_acquire)) !=
	       dev->function_generation;
}

/* Ask the fault plan about a public call @op on @dev (NULL = none), of @size bytes at @addr. SUCCESS, or the
 * status that the call must fail with. A fault may delay the return; a hang never returns. */
static inline doca_error_t shim_dev_inject_fault(const struct doca_dev *dev, enum sim_op op, uint64_t size,
						 uint64_t addr)
{
	return shim_fault_inject(op, dev ? shim_dev_function(dev)->id : SIM_NO_FUNCTION, size, addr);
}

#endif
