/** About how many bytes of memory a value takes, whatever else refers to it. A character counts as one byte. */
export const bytesOf = (value: unknown): number => {
  if (typeof value === 'string') return PER_VALUE + value.length;
  if (typeof value !== 'object' || value === null) return PER_VALUE;
  if (ArrayBuffer.isView(value)) return PER_VALUE + value.byteLength;
  let bytes = PER_OBJECT;
  for (const each of Object.values(value)) bytes += bytesOf(each);
  return bytes;
};

const PER_VALUE = 16;
const PER_OBJECT = 48;
