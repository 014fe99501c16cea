/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/topology/value_parse_priv.h - read one value of a description from its text.
 *
 * Each function reads the whole text or nothing: it returns 0, or -EINVAL and
 * leaves the result as it was. No locale, no octal, no surrounding space.
 */
#ifndef PCIE_VALUE_PARSE_PRIV_H
#define PCIE_VALUE_PARSE_PRIV_H

#include <stdbool.h>
#include <stdint.h>

/* "true" or "false". */
int pcie_parse_bool(const char *text, bool *ret_value);

/* A number up to @max, decimal ("64") or hexadecimal ("0x40"). */
int pcie_parse_number(const char *text, uint64_t max, uint64_t *ret_value);

/* Bytes: a number, alone or with KiB, MiB or GiB behind it ("2 MiB"). */
int pcie_parse_bytes(const char *text, uint64_t *ret_bytes);

/* Bits per second: a number, alone or with Mb/s, Gb/s or Tb/s behind it ("100 Gb/s"). */
int pcie_parse_rate(const char *text, uint64_t *ret_bps);

/* Six bytes in hexadecimal with colons, "02:00:5e:10:00:01"; not a group's
 * address (odd first byte) and not all zero. */
int pcie_parse_mac(const char *text, uint8_t ret_mac[6]);

/* Whether it may name a device, interface or card: no space, slash, control or non-ASCII character. */
bool pcie_is_valid_name(const char *text);

#endif
