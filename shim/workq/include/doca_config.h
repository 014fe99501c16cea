/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_config.h - how this SDK was built. What differs by tree is in
 * doca_build_config.h; this header is the name that others include. */
#ifndef DOCA_CONFIG_H_
#define DOCA_CONFIG_H_

#include <doca_build_config.h>

#endif
