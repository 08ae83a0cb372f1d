import { openJsonReader } from './json-reader.ts';
import type { JsonReading } from './json-reading.ts';

/** The value of a whole JSON text, read without `JSON.parse`; as {@link openJsonReader}, in one piece. */
export const readJson = (text: string, reading: JsonReading): unknown => {
  const reader = openJsonReader(reading);
  reader.write(text);
  return reader.end();
};
