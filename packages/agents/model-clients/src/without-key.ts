/** Shorter keys are no secrets, and may stand in any text. */
const LEAST = 8;

/** Whether a text of this length is a key that is looked for. */
const isKey = (key: string | null): key is string => key !== null && key.length >= LEAST;

/** A body that a server sent, in which its client's key is stars: as long as it was. */
export const bytesWithoutKey = (body: Uint8Array, key: string | null): Uint8Array => {
  if (!isKey(key)) return body;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let clean: Buffer | undefined;
  for (let at = bytes.indexOf(key); at !== -1; at = bytes.indexOf(key, at + key.length)) {
    clean ??= Buffer.from(bytes);
    clean.fill('*', at, at + key.length);
  }
  return clean === undefined ? body : new Uint8Array(clean);
};

export const textWithoutKey = (text: string, key: string | null): string =>
  isKey(key) ? text.replaceAll(key, '*'.repeat(LEAST)) : text;
