import kafkajs from 'kafkajs';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { MAX_BATCH_BYTES } from './record-batches.ts';

const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/**
 * Teaches kafkajs zstd, level 1. Synchronous: with an asynchronous codec two sends can change places. The codecs belong to
 * this copy of kafkajs. Our own reading does not come by here (record-batches.ts).
 */
export const registerZstd = (): void => {
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: async ({ buffer }: { readonly buffer: Buffer }) => zstdCompressSync(buffer, LEVEL),
    decompress: async (buffer: Buffer) => zstdDecompressSync(buffer, { maxOutputLength: MAX_BATCH_BYTES }),
  });
};
