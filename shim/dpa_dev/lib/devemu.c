/* SPDX-License-Identifier: BSD-3-Clause */
/* libdoca_dpa_dev_comm: emulated PCI devices, which bfsim lacks. */
#include <doca_dpa_dev_devemu_pci.h>

#include "shim/dpa_dev/runtime/runtime.h"

#define NO_DEVEMU "bfsim has no emulated PCI devices"

void doca_dpa_dev_devemu_pci_db_completion_ack(doca_dpa_dev_devemu_pci_db_completion_t comp, uint64_t num_comp)
{
	(void)comp;
	(void)num_comp;
	bfsim_dpa_fatal("doca_dpa_dev_devemu_pci_db_completion_ack: " NO_DEVEMU);
}

int doca_dpa_dev_devemu_pci_db_completion_bind_db(doca_dpa_dev_devemu_pci_db_completion_t comp,
						  doca_dpa_dev_devemu_pci_db_t db)
{
	(void)comp;
	(void)db;
	bfsim_dpa_fatal("doca_dpa_dev_devemu_pci_db_completion_bind_db: " NO_DEVEMU);
}

void doca_dpa_dev_devemu_pci_db_completion_element_get_db_properties(
	doca_dpa_dev_devemu_pci_db_completion_t comp, doca_dpa_dev_devemu_pci_db_completion_element_t comp_element,
	doca_dpa_dev_devemu_pci_db_t *db, doca_dpa_dev_uintptr_t *db_user_data)
{
	(void)comp;
	(void)comp_element;
	(void)db;
	(void)db_user_data;
	bfsim_dpa_fatal("doca_dpa_dev_devemu_pci_db_completion_element_get_db_properties: " NO_DEVEMU);
}

void doca_dpa_dev_devemu_pci_db_completion_request_notification(doca_dpa_dev_devemu_pci_db_completion_t comp)
{
	(void)comp;
	bfsim_dpa_fatal("doca_dpa_dev_devemu_pci_db_completion_request_notification: " NO_DEVEMU);
}

int doca_dpa_dev_devemu_pci_db_completion_unbind_db(doca_dpa_dev_devemu_pci_db_completion_t comp,
						    doca_dpa_dev_devemu_pci_db_t db)
{
	(void)comp;
	(void)db;
	bfsim_dpa_fatal("doca_dpa_dev_devemu_pci_db_completion_unbind_db: " NO_DEVEMU);
}

uint32_t doca_dpa_dev_devemu_pci_db_get_value(doca_dpa_dev_devemu_pci_db_t db)
{
	(void)db;
	bfsim_dpa_fatal("doca_dpa_dev_devemu_pci_db_get_value: " NO_DEVEMU);
}

void doca_dpa_dev_devemu_pci_db_request_notification(doca_dpa_dev_devemu_pci_db_t db)
{
	(void)db;
	bfsim_dpa_fatal("doca_dpa_dev_devemu_pci_db_request_notification: " NO_DEVEMU);
}

int doca_dpa_dev_devemu_pci_get_db_completion(doca_dpa_dev_devemu_pci_db_completion_t comp,
					      doca_dpa_dev_devemu_pci_db_completion_element_t *comp_element)
{
	(void)comp;
	(void)comp_element;
	bfsim_dpa_fatal("doca_dpa_dev_devemu_pci_get_db_completion: " NO_DEVEMU);
}

doca_dpa_dev_uintptr_t doca_dpa_dev_devemu_pci_msix_get_user_data(doca_dpa_dev_devemu_pci_msix_t msix)
{
	(void)msix;
	bfsim_dpa_fatal("doca_dpa_dev_devemu_pci_msix_get_user_data: " NO_DEVEMU);
}

void doca_dpa_dev_devemu_pci_msix_raise(doca_dpa_dev_devemu_pci_msix_t msix)
{
	(void)msix;
	bfsim_dpa_fatal("doca_dpa_dev_devemu_pci_msix_raise: " NO_DEVEMU);
}
