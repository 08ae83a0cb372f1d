const HIDDEN = '…';

/**
 * A text in which every address stands without its user and password: `kafka://ana:hunter2@host` is `kafka://…@host`. A
 * password may hold `/`, `?`, `#` and `@`, as people type it; a password with a blank is covered only by
 * {@link shownAddress}.
 */
export const withoutCredentials = (text: string): string =>
  text.includes('@') ? text.replace(WORD, withoutCredentialsOf) : text;

/** A long word costs no more than its length: all before its last `@` is hidden if an address may stand in it. */
const withoutCredentialsOf = (word: string): string => {
  if (!word.includes('@') || !word.includes(':/')) return word;
  return word.length > LONGEST_SEARCHED
    ? `${HIDDEN}${word.slice(word.lastIndexOf('@'))}`
    : word.replace(ADDRESS, hideCredentials);
};

/** An address as it may be shown, whatever stands in it: all before the last `@` is hidden. */
export const shownAddress = (address: string): string => {
  const [, scheme] = /^\s*([A-Za-z][A-Za-z0-9+.-]*:\/*)/.exec(address) ?? [];
  const at = address.lastIndexOf('@');
  if (at === -1) return address;
  return `${scheme ?? ''}${HIDDEN}${address.slice(at)}`;
};

const LONGEST_SEARCHED = 1_000;
const WORD = /[^\s"'`<>]+/g;

/** In a word. One slash is what is left of two where an address was taken for a path. */
const ADDRESS = /\b([A-Za-z][A-Za-z0-9+.-]*:\/{1,3})(.*)@/;

const hideCredentials = (found: string, scheme: string, before: string): string =>
  before !== PLACEHOLDER && isCredentials(scheme, before) ? `${scheme}${HIDDEN}@` : found;

/** How sentences name what stands there: `postgres://USER@HOST`. */
const PLACEHOLDER = 'USER';

/** Schemes in whose addresses an `@` stands behind credentials and nowhere else. */
const SERVERS = /^(?:kafka|postgres(?:ql)?|mysql|mongodb|redis|amqp|ldap)s?:/i;

/** In `http://host:80/mine@c6` the `@` is a part of the path: what follows the host is digits, then a slash. */
const isCredentials = (scheme: string, before: string): boolean =>
  SERVERS.test(scheme) || !/[/?#]/.test(before) || !/^(?:\[[^\]]*\]|[^:/?#]*)(?::\d*)?[/?#]/.test(before);
