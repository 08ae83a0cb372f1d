import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** What one finds of a text in bytes: as it is, in UTF-16, in base64, in hex. */
const forms = (text: string): readonly Buffer[] => [
  Buffer.from(text),
  Buffer.from(text, 'utf16le'),
  Buffer.from(Buffer.from(text).toString('base64').replace(/=+$/, '').slice(0, -1)),
  Buffer.from(Buffer.from(text).toString('hex')),
];

/** The files below a folder that hold one of the texts, each as `file: text`; every byte of every file is looked at. */
export const filesHolding = (folder: string, texts: readonly string[]): readonly string[] => {
  const found: string[] = [];
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (!statSync(path).isFile()) continue;
    const bytes = readFileSync(path);
    for (const text of texts)
      if (forms(text).some((form) => bytes.includes(form)) || name.includes(text))
        found.push(`${relative(folder, path)}: ${text}`);
  }
  return found;
};
