/* SPDX-License-Identifier: BSD-3-Clause */
/* The one header in which the host tree and the DPU tree differ. */
#ifndef DOCA_BUILD_CONFIG_H_
#define DOCA_BUILD_CONFIG_H_

#define DOCA_ARCH_DPU

#if defined(__x86_64__) || defined(__i386__)
#define DOCA_ARCH_X86
#elif defined(__aarch64__)
#define DOCA_ARCH_ARM
#endif

#endif
