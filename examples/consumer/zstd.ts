import kafkajs from 'kafkajs';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Stemma's topics are compressed with zstd, which kafkajs has to be taught; other clients know it. */
export const teachZstd = (): void => {
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: async ({ buffer }: { readonly buffer: Buffer }) => zstdCompressSync(buffer),
    decompress: async (buffer: Buffer) => zstdDecompressSync(buffer, { maxOutputLength: 64 * 1024 * 1024 }),
  });
};
