#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compress and decompress files for ci/vendor-samples, by other libraries than bfsim's engines use.
Check redundancy blocks of erasure coding: FOLDER has the blocks of DATA + RDNC, which the vendor's sample wrote.

    engines.py deflate raw|zlib IN OUT
    engines.py inflate raw|zlib IN OUT
    engines.py redundancy cauchy|vandermonde DATA RDNC FOLDER
    engines.py lz4 IN OUT [bare] [independent] [block-checksum] [content-checksum]

zlib is Python's. lz4 writes a frame by liblz4's frame functions, or its blocks alone.
"""
import ctypes
import pathlib
import sys
import zlib

WINDOW = {'raw': -15, 'zlib': 15}


def deflate(kind, source, target):
    packer = zlib.compressobj(6, zlib.DEFLATED, WINDOW[kind])
    target.write_bytes(packer.compress(source.read_bytes()) + packer.flush())


def inflate(kind, source, target):
    unpacker = zlib.decompressobj(WINDOW[kind])
    data = unpacker.decompress(source.read_bytes())
    if not unpacker.eof or unpacker.unused_data:
        sys.exit(f'{source} is no whole stream, or more than one')
    target.write_bytes(data)


class Preferences(ctypes.Structure):
    """LZ4F_preferences_t of lz4frame.h."""
    _fields_ = [(name, ctypes.c_uint32) for name in ('block_size', 'is_independent', 'content_checksum', 'frame_type')] + \
               [('content_size', ctypes.c_uint64), ('dictionary', ctypes.c_uint32), ('block_checksum', ctypes.c_uint32),
                ('level', ctypes.c_int32), ('auto_flush', ctypes.c_uint32), ('favors_decoding', ctypes.c_uint32),
                ('reserved', ctypes.c_uint32 * 3)]


def lz4(source, target, kinds):
    lib = ctypes.CDLL('liblz4.so.1')
    lib.LZ4F_compressFrame.restype = lib.LZ4F_compressFrameBound.restype = ctypes.c_size_t
    data = source.read_bytes()
    preferences = Preferences(block_size=4, is_independent='independent' in kinds,
                              content_checksum='content-checksum' in kinds, block_checksum='block-checksum' in kinds)
    room = lib.LZ4F_compressFrameBound(ctypes.c_size_t(len(data)), ctypes.byref(preferences))
    frame = ctypes.create_string_buffer(room)
    size = lib.LZ4F_compressFrame(frame, ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)), ctypes.byref(preferences))
    if size > room:
        sys.exit('liblz4 fails')
    header = 4 + 3  # magic; flags, block size, header checksum
    blocks = frame.raw[header:size - (4 if 'content-checksum' in kinds else 0) - 4]
    target.write_bytes(blocks if 'bare' in kinds else frame.raw[:size])


def product(a, b):
    """Of GF(2^8) over 0x11d."""
    found = 0
    while b:
        found ^= a if b & 1 else 0
        a = a << 1 ^ (0x11d if a & 0x80 else 0)
        b >>= 1
    return found


def power(a, exponent):
    found = 1
    for _ in range(exponent):
        found = product(found, a)
    return found


def redundancy(kind, num_data, num_rdnc, folder):
    blocks = [(folder / f'data_block_{i}').read_bytes() for i in range(num_data)]
    for j in range(num_rdnc):
        factors = [power(i ^ (j + num_data), 254) if kind == 'cauchy' else power(i + 1, j) for i in range(num_data)]
        expected = 0
        for factor, block in zip(factors, blocks):
            expected ^= int.from_bytes(block.translate(bytes(product(factor, x) for x in range(256))), 'big')
        if (folder / f'rdnc_block_{j}').read_bytes() != expected.to_bytes(len(blocks[0]), 'big'):
            sys.exit(f'redundancy block {j} of {num_data} + {num_rdnc} blocks ({kind}) differs from the formula')


def main():
    what, args = sys.argv[1], sys.argv[2:]
    if what == 'lz4':
        lz4(pathlib.Path(args[0]), pathlib.Path(args[1]), args[2:])
    elif what == 'redundancy':
        redundancy(args[0], int(args[1]), int(args[2]), pathlib.Path(args[3]))
    else:
        {'deflate': deflate, 'inflate': inflate}[what](args[0], pathlib.Path(args[1]), pathlib.Path(args[2]))


if __name__ == '__main__':
    main()
