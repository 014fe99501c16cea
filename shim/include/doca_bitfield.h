/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_bitfield.h - fields of bits in registers of 8 bits, and of 16 and 32 in network byte order.
 *
 * A field is named by its mask, whose bits are set where the field lies; GENMASK
 * makes one from the field's highest and lowest bit, counted from 0. A mask has the
 * byte order of its register, and must not be 0. A value has the host's order and
 * starts at bit 0.
 *
 *   doca_be16_t mask = DOCA_BE16_GENMASK(11, 4);       htons(0x0ff0)
 *   doca_be16_t reg = DOCA_BE16_SET(mask, 0x12);       htons(0x0120)
 *   uint16_t value = DOCA_BE16_GET(mask, reg);         0x12
 *
 * SET yields the field alone, its value cut to the mask: OR the fields of a
 * register together. The forms with a P take a pointer: P_GENMASK writes the
 * mask to *pointer, P_SET ORs the field into *pointer. To change a field, clear it
 * before.
 *
 * Arguments may be evaluated more than once.
 */
#ifndef DOCA_BITFIELD_H_
#define DOCA_BITFIELD_H_

#include <stdlib.h>
#include <arpa/inet.h>
#include <doca_types.h>

/* Position of the lowest bit that is set; -1 if none is. */
#define DOCA_SHIFT(x) (__builtin_ffsll(x) - 1)

/* --- Byte order --- */

#define DOCA_HTOBE16(x) htons(x)
#define DOCA_HTOBE32(x) htonl(x)
#define DOCA_BETOH16(x) ntohs(x)
#define DOCA_BETOH32(x) ntohl(x)

/* --- Masks: bits @low to @high, both included --- */

#define DOCA_U8_GENMASK(high, low)   ((2 << (high)) - (1 << (low)))
#define DOCA_BE16_GENMASK(high, low) DOCA_HTOBE16((2 << (high)) - (1 << (low)))
/* For bit 31 the first term wraps to 0, as it should. */
#define DOCA_BE32_GENMASK(high, low) DOCA_HTOBE32((UINT32_C(2) << (high)) - (UINT32_C(1) << (low)))

#define DOCA_U8P_GENMASK(high, low, reg)   DOCA_BITFIELD_STORE_(uint8_t, reg, DOCA_U8_GENMASK(high, low))
#define DOCA_BE16P_GENMASK(high, low, reg) DOCA_BITFIELD_STORE_(doca_be16_t, reg, DOCA_BE16_GENMASK(high, low))
#define DOCA_BE32P_GENMASK(high, low, reg) DOCA_BITFIELD_STORE_(doca_be32_t, reg, DOCA_BE32_GENMASK(high, low))

/* --- A field from a value --- */

#define DOCA_U8_SET(mask, value) (((value) << DOCA_SHIFT(mask)) & (mask))
#define DOCA_BE16_SET(mask, value) \
	(DOCA_HTOBE16((uint16_t)((uint32_t)(value) << DOCA_SHIFT(DOCA_BETOH16(mask)))) & (mask))
#define DOCA_BE32_SET(mask, value) (DOCA_HTOBE32((uint32_t)(value) << DOCA_SHIFT(DOCA_BETOH32(mask))) & (mask))

/* These end in a semicolon, as those of the vendor: a program may rely on that. */
#define DOCA_U8P_SET(mask, value, reg)   DOCA_BITFIELD_OR_(uint8_t, reg, DOCA_U8_SET(mask, value));
#define DOCA_BE16P_SET(mask, value, reg) DOCA_BITFIELD_OR_(doca_be16_t, reg, DOCA_BE16_SET(mask, value));
#define DOCA_BE32P_SET(mask, value, reg) DOCA_BITFIELD_OR_(doca_be32_t, reg, DOCA_BE32_SET(mask, value));

/* --- A value from a register --- */

#define DOCA_U8_GET(mask, reg)   (((mask) & (reg)) >> DOCA_SHIFT(mask))
#define DOCA_BE16_GET(mask, reg) (DOCA_BETOH16((mask) & (reg)) >> DOCA_SHIFT(DOCA_BETOH16(mask)))
#define DOCA_BE32_GET(mask, reg) (DOCA_BETOH32((mask) & (reg)) >> DOCA_SHIFT(DOCA_BETOH32(mask)))

/* The parts of the P forms. */
#define DOCA_BITFIELD_STORE_(type, reg, bits)  \
	do {                                   \
		*(type *)(reg) = (type)(bits); \
	} while (0)
#define DOCA_BITFIELD_OR_(type, reg, bits)                \
	do {                                              \
		type *const doca_reg_ = (type *)(reg);    \
		*doca_reg_ = (type)(*doca_reg_ | (bits)); \
	} while (0)

#endif
