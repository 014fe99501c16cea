#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compress and decompress files for ci/vendor-samples, by other libraries than bfsim's engines use.
Check redundancy blocks of erasure coding: FOLDER has the blocks of DATA + RDNC, which the vendor's sample wrote.

    engines.py deflate raw|zlib IN OUT
    engines.py inflate raw|zlib IN OUT
    engines.py redundancy cauchy|vandermonde DATA RDNC FOLDER
    engines.py seal KEY IV TAG-BYTES AAD-BYTES IN OUT
    engines.py storage cauchy|vandermonde BLOCK-SIZE HALF-1 HALF-2 REDUNDANCY OUT
    engines.py lz4 IN OUT [bare] [independent] [block-checksum] [content-checksum]

zlib is Python's. lz4 writes a frame by liblz4's frame functions, or its blocks alone. seal encrypts with AES-GCM, by libgcrypt:
AAD, ciphertext, tag. storage checks the files of the storage application's generator, and writes what they hold.
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


def must(error):
    if error:
        sys.exit(f'libgcrypt fails with {error}')


def seal(key, iv, tag_bytes, aad_bytes, source, target):
    lib = ctypes.CDLL('libgcrypt.so.20')
    lib.gcry_check_version(None)
    data = source.read_bytes()
    handle, text, tag = ctypes.c_void_p(), ctypes.create_string_buffer(len(data) - aad_bytes), ctypes.create_string_buffer(16)
    size = ctypes.c_size_t
    must(lib.gcry_cipher_open(ctypes.byref(handle), {16: 7, 32: 9}[len(key)], 9, 0))  # AES128, AES256; GCM
    must(lib.gcry_cipher_setkey(handle, key, size(len(key))))
    must(lib.gcry_cipher_setiv(handle, iv, size(len(iv))))
    must(lib.gcry_cipher_authenticate(handle, data, size(aad_bytes)) if aad_bytes else 0)
    plain = data[aad_bytes:]
    must(lib.gcry_cipher_encrypt(handle, text, size(len(plain)), plain, size(len(plain))))
    must(lib.gcry_cipher_gettag(handle, tag, size(16)))
    lib.gcry_cipher_close(handle)
    target.write_bytes(data[:aad_bytes] + text.raw[:len(plain)] + tag.raw[:tag_bytes])


def unpack_blocks(lib, packed, size):
    """The bytes of the blocks of an LZ4 frame: of each a size, whose highest bit says that it is stored, and its data."""
    found = b''
    while packed:
        head, packed = int.from_bytes(packed[:4], 'little'), packed[4:]
        data, packed = packed[:head & 0x7fffffff], packed[head & 0x7fffffff:]
        room = ctypes.create_string_buffer(size)
        count = len(data) if head >> 31 else lib.LZ4_decompress_safe(data, room, len(data), size)
        found += data if head >> 31 else room.raw[:max(count, 0)]
    return found


def storage(kind, block_size, halves, target):
    """A file has a magic number, the size of its blocks, their number, and the blocks; a block of the storage is one of each half."""
    contents = []
    for half in halves:
        data = half.read_bytes()
        if data[:8] != bytes.fromhex('deadf00d1337fade') or int.from_bytes(data[8:12], 'big') != block_size // 2:
            sys.exit(f'{half} has another header')
        contents.append([data[i:i + block_size // 2] for i in range(16, len(data), block_size // 2)])
    factors = [power(i ^ 2, 254) if kind == 'cauchy' else 1 for i in range(2)]
    lib, found = ctypes.CDLL('liblz4.so.1'), b''
    for first, second, redundant in zip(*contents, strict=True):
        if bytes(product(factors[0], a) ^ product(factors[1], b) for a, b in zip(first, second)) != redundant:
            sys.exit('a block of the redundancy differs from the formula')
        block = first + second
        original, packed = int.from_bytes(block[:4], 'big'), int.from_bytes(block[4:8], 'big')
        found += unpack_blocks(lib, block[8:8 + packed], original)
    target.write_bytes(found)


def main():
    what, args = sys.argv[1], sys.argv[2:]
    if what == 'lz4':
        lz4(pathlib.Path(args[0]), pathlib.Path(args[1]), args[2:])
    elif what == 'seal':
        seal(bytes.fromhex(args[0]), bytes.fromhex(args[1]), int(args[2]), int(args[3]), pathlib.Path(args[4]), pathlib.Path(args[5]))
    elif what == 'storage':
        storage(args[0], int(args[1]), [pathlib.Path(path) for path in args[2:5]], pathlib.Path(args[5]))
    elif what == 'redundancy':
        redundancy(args[0], int(args[1]), int(args[2]), pathlib.Path(args[3]))
    else:
        {'deflate': deflate, 'inflate': inflate}[what](args[0], pathlib.Path(args[1]), pathlib.Path(args[2]))


if __name__ == '__main__':
    main()
