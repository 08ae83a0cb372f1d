import kafkajs from 'kafkajs';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Adds zstd to kafkajs, which has none, at the level that Stemma's log uses. */
export const registerZstd = (): void => {
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: async ({ buffer }: { readonly buffer: Buffer }) => zstdCompressSync(buffer, LEVEL),
    decompress: async (buffer: Buffer) => zstdDecompressSync(buffer),
  });
};
