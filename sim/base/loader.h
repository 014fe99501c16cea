/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/loader.h - a fork waits for the dynamic loader.
 *
 * glibc (2.36) does not make its lock of the list of loaded objects anew in a forked child: where another thread of the parent was in
 * dlopen() or dl_iterate_phdr(), the child's own calls of them wait for ever. Each of ours is between these two,
 * and takes no other lock of bfsim there.
 */
#ifndef SIM_BASE_LOADER_H
#define SIM_BASE_LOADER_H

void sim_loader_lock(void);
void sim_loader_unlock(void);

#endif
