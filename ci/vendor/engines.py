#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compress and decompress files for ci/vendor-samples, by other libraries than bfsim's engines use.

    engines.py deflate raw|zlib IN OUT
    engines.py inflate raw|zlib IN OUT
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


def main():
    what, args = sys.argv[1], sys.argv[2:]
    if what == 'lz4':
        lz4(pathlib.Path(args[0]), pathlib.Path(args[1]), args[2:])
    else:
        {'deflate': deflate, 'inflate': inflate}[what](args[0], pathlib.Path(args[1]), pathlib.Path(args[2]))


if __name__ == '__main__':
    main()
