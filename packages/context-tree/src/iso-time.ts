/** `created_at_iso` of an instant: UTC, milliseconds, cut and not rounded (context-tree §10.8). */
export const isoTime = (nanoseconds: bigint): string => {
  if (nanoseconds === 0n) return '1970-01-01T00:00:00.000Z';
  return new Date(Number(nanoseconds / 1_000_000n)).toISOString();
};
