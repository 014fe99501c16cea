/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/workq/renamed.h - the older names of functions that tests of the current generation use,
 * for tests that are compiled a second time for this generation (-include).
 */
#ifndef TESTS_WORKQ_RENAMED_H
#define TESTS_WORKQ_RENAMED_H

#define doca_devinfo_create_list       doca_devinfo_list_create
#define doca_devinfo_destroy_list      doca_devinfo_list_destroy
#define doca_devinfo_is_equal_pci_addr doca_devinfo_get_is_pci_addr_equal
#define doca_devinfo_rep_create_list   doca_devinfo_rep_list_create
#define doca_devinfo_rep_destroy_list  doca_devinfo_rep_list_destroy
#define DOCA_DEVINFO_REP_FILTER_NET    DOCA_DEV_REP_FILTER_NET
#define doca_error_get_name            doca_get_error_name

#endif
