/** An id for a command, which nobody else makes: sent again it has no second effect. */
export const commandId = (): string =>
  `page-${Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;

const ACTOR = 'stemma.actor';

/** The name that this browser intervened with last; a browser that keeps nothing begins without one. */
export const keptActor = (): string => {
  try {
    return localStorage.getItem(ACTOR) ?? '';
  } catch {
    return '';
  }
};

export const keepActor = (actor: string): void => {
  try {
    localStorage.setItem(ACTOR, actor);
  } catch {
    // It is asked for again.
  }
};
