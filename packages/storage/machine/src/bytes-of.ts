/** About how many bytes of memory a value takes, whatever else refers to it. A character counts as one byte. */
export const bytesOf = (value: unknown): number => {
  if (typeof value === 'string') return PER_VALUE + value.length;
  if (typeof value !== 'object' || value === null) return PER_VALUE;
  if (ArrayBuffer.isView(value)) return PER_VALUE + value.byteLength;
  let bytes = PER_OBJECT;
  if (Array.isArray(value)) for (const each of value) bytes += bytesOf(each);
  // Without a list of the values, which for a large frame takes longer than all else here.
  else for (const name in value) bytes += bytesOf((value as { readonly [name: string]: unknown })[name]);
  return bytes;
};

const PER_VALUE = 16;
const PER_OBJECT = 48;
