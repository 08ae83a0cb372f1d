/** A block of commands of the tutorial, and the block of output that follows it (null: none is shown). */
export type Step = { readonly commands: string; readonly output: string | null };

const BLOCK = /^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms;

/** The blocks of the page that are run (`sh`, not `sh not-run`), in order, each with the output shown below it. */
export const stepsOf = (page: string): readonly Step[] =>
  [...page.matchAll(BLOCK)].map(([, commands = '', output]) => ({ commands, output: output ?? null }));

/** The same text with a mask for whatever differs from run to run: times, generated ids, durations, folders. */
export const mask = (text: string): string =>
  text
    .replace(/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, '<time>')
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<command>')
    .replace(/\b\d+\.\d+ s\b/g, '<duration>');

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A pattern of masked output in which `…` stands for any text of a line, and a line `…` for any lines. */
const patternOf = (shown: string): RegExp =>
  new RegExp(
    `^${mask(shown)
      .split('\n')
      .map((line) => (line === '…' ? '(?:.*\\n)*?.*' : line.split('…').map(escaped).join('.*')))
      .join('\n')}$`,
  );

/** What a command printed, masked and shortened as the page shows it; masked only, where the page shows something else. */
export const asShown = (printed: string, shown: string): string =>
  patternOf(shown).test(mask(printed)) ? mask(shown) : mask(printed);

/** The page with the output of each block that shows something else; lines that still fit stay as they are. */
export const withOutputs = (page: string, outputs: readonly string[]): string => {
  let n = 0;
  return page.replaceAll(BLOCK, (block: string, commands: string, shown: string | undefined) => {
    const printed = outputs[n++] ?? '';
    if (shown === undefined || patternOf(shown).test(mask(printed))) return block;
    const lines = shown.split('\n').filter((line) => line !== '…');
    const kept = printed
      .split('\n')
      .map((line) => lines.find((one) => one !== '' && patternOf(one).test(mask(line))) ?? line);
    return `\`\`\`sh\n${commands}\`\`\`\n\n\`\`\`text\n${kept.join('\n')}\`\`\`\n`;
  });
};
