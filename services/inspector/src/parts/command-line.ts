/** The words of a command as a shell takes them: `python agent.py --say 'two words'`. */
export const commandLine = (words: readonly string[]): string =>
  words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
