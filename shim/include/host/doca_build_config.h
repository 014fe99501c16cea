/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_build_config.h - which side of the card a program is built for.
 *
 * The one header in which the host tree and the DPU tree differ: exactly one
 * of DOCA_ARCH_HOST and DOCA_ARCH_DPU is defined, by tree. The processor is the
 * compiler's: the simulated DPU runs on the machine at hand, so DOCA_ARCH_DPU
 * does not imply DOCA_ARCH_ARM.
 */
#ifndef DOCA_BUILD_CONFIG_H_
#define DOCA_BUILD_CONFIG_H_

#define DOCA_ARCH_HOST

#if defined(__x86_64__) || defined(__i386__)
#define DOCA_ARCH_X86
#elif defined(__aarch64__)
#define DOCA_ARCH_ARM
#endif

#endif
