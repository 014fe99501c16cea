/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_config.h - how this SDK was built. The two SDK trees differ in
 * doca_build_config.h; other headers include this one. */
#ifndef DOCA_CONFIG_H_
#define DOCA_CONFIG_H_

#include <doca_build_config.h>

#endif
