/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DOCA_CONFIG_H_
#define DOCA_CONFIG_H_

#include <doca_build_config.h>

#endif
