# shellcheck shell=bash disable=SC2154 # part of ci/vendor-samples, whose variables these are
# SPDX-License-Identifier: BSD-3-Clause
# Samples and applications of engines besides DMA, on cards that have them. Their results are compared with those of
# other programs: sha256sum, Python's zlib, liblz4's frames, libgcrypt (engines.py).

bluefield_2=$top/share/topologies/bluefield-2.yaml

# engine_sample LIBRARY SAMPLE TEST NOTE: TEST is a function that runs the program and checks the result.
engine_sample() {
	storm_note=
	if ! quietly "$2 does not build" build dpu "$1" "$2"; then
		row "$2" FAILED - "see above"
		return
	fi
	DPU_PROGRAM=$(program dpu "$1" "$2")
	export DPU_PROGRAM
	if run_rounds "$3"; then
		row "$2" ok ok "$4"
	else
		row "$2" ok FAILED "see above"
	fi
}

engines() { python3 "$top/ci/vendor/engines.py" "$@"; }

# on_dpu SAMPLE TOPOLOGY FLAGS: the sample on the DPU, on a card of that topology; "" = the built-in one.
on_dpu() {
	# shellcheck disable=SC2016,SC2086 # for bfsim's shells; words
	in_session "$1" --timeout 60 ${2:+--topology "$2"} --dpu '"$DPU_PROGRAM" '"$3" &&
		check "$1" 'Sample finished successfully' && check_errors "$1"
}

# some_file BYTES: a file that compresses by half, as $WORK/text.
some_file() {
	WORK=$(mktemp -d "$scratch/engines.XXXXXX")
	export WORK
	head -c "$1" /dev/urandom | od -An -tx1 -v | head -c "$1" >"$WORK/text"
}

# same_file WHAT A B
same_file() {
	cmp "$2" "$3" && return 0
	echo "--- $1: the results differ"
	return 1
}

# --- SHA -------------------------------------------------------------------------

# sha_text SAMPLE TEXT
sha_text() {
	local digest
	digest=$(printf %s "$2" | sha256sum | cut -d ' ' -f 1)
	on_dpu "$1" "$bluefield_2" "-d '$2'" && check "$1" "SHA256 output is: $digest\$"
}

sha_create_works() { sha_text sha_create abc && sha_text sha_create "$(printf '%01024d' 7)"; }

sha_partial_create_works() {
	sha_text sha_partial_create "$(printf '%080d' 7)" && sha_text sha_partial_create "$(printf '%0128d' 7)" &&
		sha_text sha_partial_create "$(printf '%01000d' 7)"
}

# --- deflate ---------------------------------------------------------------------

# deflates BYTES FLAGS FORMAT: the sample's output is a stream of that format (raw, zlib).
deflates() {
	some_file "$1"
	on_dpu compress_deflate "$bluefield_2" '-p 03:00.0 -f "$WORK/text" -o "$WORK/out" '"$2" &&
		check compress_deflate 'File was compressed successfully' &&
		engines inflate "$3" "$WORK/out" "$WORK/again" && same_file "compress_deflate $1" "$WORK/text" "$WORK/again"
}

compress_deflate_works() {
	deflates 1 '' raw && deflates 100000 '-c' raw && deflates 1500000 '' raw && deflates 100000 '-wf -c' zlib
}

# inflates TOPOLOGY BYTES FLAGS FORMAT
inflates() {
	some_file "$2"
	engines deflate "$4" "$WORK/text" "$WORK/in" &&
		on_dpu decompress_deflate "$1" '-p 03:00.0 -f "$WORK/in" -o "$WORK/out" '"$3" &&
		check decompress_deflate 'File was decompressed successfully' &&
		same_file "decompress_deflate $2" "$WORK/text" "$WORK/out"
}

decompress_deflate_works() {
	inflates "" 1 '' raw && inflates "" 2097152 '-c' raw && inflates "" 100000 '-wf -c' zlib &&
		inflates "$bluefield_2" 100000 '' raw
}

# --- LZ4 -------------------------------------------------------------------------

# lz4 BYTES FLAGS KIND...: the KINDs are of a frame's header (engines.py). Without -wf the sample takes bare blocks.
lz4() {
	local bytes=$1 flags=$2
	shift 2
	some_file "$bytes"
	engines lz4 "$WORK/text" "$WORK/in" "$@" &&
		on_dpu decompress_lz4_stream "" '-p 03:00.0 -f "$WORK/in" -o "$WORK/out" '"$flags" &&
		check decompress_lz4_stream 'File was decompressed successfully' &&
		same_file "decompress_lz4_stream $*" "$WORK/text" "$WORK/out"
}

decompress_lz4_stream_works() {
	lz4 1000 '-bi -c' bare independent && lz4 500000 '-bi -bc -c' bare independent block-checksum &&
		lz4 500000 '-c' bare && lz4 500000 '-wf -c' && lz4 500000 '-wf' independent block-checksum &&
		lz4 500000 '-wf -c' content-checksum
}

# --- erasure coding --------------------------------------------------------------

# recovers BYTES MATRIX DATA RDNC LOST FLAGS: the file is whole again without the LOST blocks, and the redundancy blocks are those
# of the reference's formula.
recovers() {
	some_file "$1"
	mkdir "$WORK/blocks"
	on_dpu erasure_coding_recover "" '-p 03:00.0 -i "$WORK/text" -o "$WORK/blocks" -b '"-x $2 -t $3 -r $4 -d $5 $6" &&
		check erasure_coding_recover 'Success, redundancy blocks were created' &&
		check erasure_coding_recover 'Success, data was recovered' &&
		same_file "erasure_coding_recover $*" "$WORK/text" "$WORK/text_recovered" &&
		engines redundancy "$2" "$3" "$4" "$WORK/blocks"
}

erasure_coding_recover_works() {
	recovers 1 cauchy 2 2 0 '' && recovers 100000 cauchy 10 4 0,3,8,9 '' && recovers 100000 vandermonde 6 2 1,5 '' &&
		recovers 1000000 cauchy 128 32 127,0,64 '' && recovers 50000 cauchy 5 3 2,4 '-ns 7 -nd 3'
}

# --- AES-GCM ---------------------------------------------------------------------

key_128=000102030405060708090a0b0c0d0e0f
key_256=${key_128}101112131415161718191a1b1c1d1e1f

# sealed BYTES KEY IV TAG AAD: a file as $WORK/text, and what libgcrypt makes of it as $WORK/sealed; its AAD are its first bytes.
sealed() {
	some_file "$1"
	engines seal "$2" "$3" "$4" "$5" "$WORK/text" "$WORK/sealed"
}

# encrypts BYTES KEY IV TAG AAD FLAGS
encrypts() {
	sealed "$1" "$2" "$3" "$4" "$5" &&
		on_dpu aes_gcm_encrypt "" '-p 03:00.0 -f "$WORK/text" -o "$WORK/out" '"-k $2 -i $3 -t $4 -a $5 $6" &&
		check aes_gcm_encrypt 'File was encrypted successfully' &&
		same_file "aes_gcm_encrypt $*" "$WORK/sealed" "$WORK/out"
}

aes_gcm_encrypt_works() {
	encrypts 100000 "$key_256" 0a0b0c0d0e0f101112131415 16 0 '' && encrypts 1 "$key_128" 0102030405060708 12 0 '' &&
		encrypts 50000 "$key_128" 0a0b0c0d0e0f101112131415 12 1000 '-ns 7 -nd 3'
}

# decrypts BYTES KEY IV TAG AAD FLAGS
decrypts() {
	sealed "$1" "$2" "$3" "$4" "$5" &&
		on_dpu aes_gcm_decrypt "" '-p 03:00.0 -f "$WORK/sealed" -o "$WORK/out" '"-k $2 -i $3 -t $4 -a $5 $6" &&
		check aes_gcm_decrypt 'File was decrypted successfully' &&
		same_file "aes_gcm_decrypt $*" "$WORK/text" "$WORK/out"
}

# The bytes of the message are in another order: the tag does not match.
changed_message_is_refused() {
	sealed 1000 "$key_256" 0a0b0c0d0e0f101112131415 16 0 &&
		{ tail -c 1 "$WORK/sealed" && head -c -1 "$WORK/sealed"; } >"$WORK/changed" || return 1
	if on_dpu aes_gcm_decrypt "" '-p 03:00.0 -f "$WORK/changed" -o "$WORK/out" '"-k $key_256 -i 0a0b0c0d0e0f101112131415 -t 16" \
		>"$scratch/refused"; then
		echo "--- aes_gcm_decrypt of a changed message: was not refused"
		return 1
	fi
	check "aes_gcm_decrypt of a changed message" 'AES-GCM decrypt task failed' && [ ! -s "$WORK/out" ]
}

aes_gcm_decrypt_works() {
	decrypts 100000 "$key_256" 0a0b0c0d0e0f101112131415 16 0 '' && decrypts 1 "$key_128" 0102030405060708 12 0 '' &&
		decrypts 50000 "$key_128" 0a0b0c0d0e0f101112131415 12 1000 '-ns 7 -nd 3' &&
		{ $storm || changed_message_is_refused; }
}

# --- applications ----------------------------------------------------------------

# both_on WHAT TOPOLOGY HOST_PCI: client and server, each with a file in $WORK.
both_on() {
	export HOST_PCI=$3
	# shellcheck disable=SC2016,SC2086 # for bfsim's shells; words
	in_session "$1" --timeout 120 ${2:+--topology "$2"} \
		--host '"$HOST_PROGRAM" -p "$HOST_PCI" -f "$WORK/text"' \
		--dpu '"$DPU_PROGRAM" -p 03:00.0 -r "$HOST_PCI" -f "$WORK/out"'
}

# compresses TOPOLOGY HOST_PCI BYTES
compresses() {
	some_file "$3"
	both_on "file_compression of $3 bytes" "$1" "$2" &&
		check file_compression 'SUCCESS: file was received and decompressed successfully' &&
		same_file "file_compression of $3 bytes" "$WORK/text" "$WORK/out"
}

file_compression_works() {
	compresses "$bluefield_2" 3b:00.0 1000 && compresses "$bluefield_2" 3b:00.0 1000000 &&
		compresses "" b1:00.0 1000000 && check file_compression 'running SW compress with zlib'
}

# has_integrity BYTES
has_integrity() {
	some_file "$1"
	both_on "file_integrity of $1 bytes" "$bluefield_2" 3b:00.0 &&
		check file_integrity 'SUCCESS: file SHA is identical to received SHA' &&
		same_file "file_integrity of $1 bytes" "$WORK/text" "$WORK/out"
}

file_integrity_works() { has_integrity 100 && has_integrity 1000000; }
