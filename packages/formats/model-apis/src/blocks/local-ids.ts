/**
 * Ids for calls and results that have none, in an API where names say which belong together: the name and the number among those of
 * this name in the message, `get_weather:0`. A later message counts from 0.
 */
export const localCallIds = () => {
  const counter = () => {
    const known = new Map<string, number>();
    return (name: string): string => {
      const number = known.get(name) ?? 0;
      known.set(name, number + 1);
      return `${name}:${number}`;
    };
  };
  return { ofCall: counter(), ofResult: counter() };
};

/** True for an id that {@link localCallIds} gives a call of this name. */
export const isLocalId = (id: string, name: string): boolean =>
  id.startsWith(`${name}:`) && /^\d+$/.test(id.slice(name.length + 1));

/** The name in such an id; null: it is none. */
export const nameInLocalId = (id: string): string | null => /^(.+):\d+$/s.exec(id)?.[1] ?? null;
