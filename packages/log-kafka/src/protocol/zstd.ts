import kafkajs from 'kafkajs';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { MAX_BATCH_BYTES } from './record-batches.ts';

const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/**
 * Adds zstd, level 1, to kafkajs. The codec is synchronous, because with an asynchronous one two sends can change places.
 * It applies to this copy of kafkajs only. Reading uses `record-batches.ts` instead.
 */
export const registerZstd = (): void => {
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: async ({ buffer }: { readonly buffer: Buffer }) => zstdCompressSync(buffer, LEVEL),
    decompress: async (buffer: Buffer) => zstdDecompressSync(buffer, { maxOutputLength: MAX_BATCH_BYTES }),
  });
};
