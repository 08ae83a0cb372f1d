/** Where each batch begins in a segment file of a broker. */
export const batchesIn = (bytes: Buffer): readonly number[] => {
  const starts: number[] = [];
  for (let at = 0; at + 61 <= bytes.length && bytes[at + 16] === 2; at += bytes.readInt32BE(at + 8) + 12)
    starts.push(at);
  return starts;
};
