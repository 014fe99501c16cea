/* SPDX-License-Identifier: BSD-3-Clause */
/* args.h - the user's flags, from the command line or a JSON file. */
#ifndef ARGS_H
#define ARGS_H

#include <limits.h>

#include <doca_dev.h>
#include <doca_error.h>

struct args {
	char file[PATH_MAX];
	char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	char rep_pci_addr[DOCA_DEVINFO_REP_PCI_ADDR_SIZE]; /* the DPU's alone; the host ignores it */
};

/* Fill *@args, which is all zero. --help and --version end the program. The
 * parser lives until doca_argp_destroy(), whatever the outcome. */
doca_error_t args_parse(struct args *args, int argc, char **argv);

#endif
