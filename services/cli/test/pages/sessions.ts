/** A command that a page shows behind `$`, and what the page shows below it. */
export type ShownSession = { readonly line: number; readonly command: string; readonly output: string };

/** The sessions of a page: in blocks of text, each line that begins with `$ ` and the lines up to the next. */
export const sessionsOf = (page: string): readonly ShownSession[] => {
  const found: { line: number; command: string; output: string }[] = [];
  let isInBlock = false;
  let last: (typeof found)[number] | undefined;
  for (const [i, text] of page.split('\n').entries()) {
    if (/^```/.test(text)) {
      isInBlock = !isInBlock;
      last = undefined;
    } else if (isInBlock && text.startsWith('$ ')) {
      last = { line: i + 1, command: text.slice(2), output: '' };
      found.push(last);
    } else if (last !== undefined) last.output += `${text}\n`;
  }
  return found;
};

/** The page with other outputs behind some of its sessions, by their line. */
export const withSessionOutputs = (page: string, outputs: ReadonlyMap<number, string>): string => {
  const lines = page.split('\n');
  for (const { line, output } of sessionsOf(page).toReversed()) {
    const given = outputs.get(line);
    if (given === undefined) continue;
    const shownLines = output === '' ? 0 : output.split('\n').length - 1;
    lines.splice(line, shownLines, ...(given === '' ? [] : given.replace(/\n$/, '').split('\n')));
  }
  return lines.join('\n');
};
