/** Messages on their way to another thread. */
export type Outbox<Message> = {
  /** @param moved memory that the message takes along: this thread no longer has it. */
  readonly put: (message: Message, moved?: readonly ArrayBuffer[]) => void;
  /** Sends what is there now. */
  readonly flush: () => void;
};

/**
 * Sends the messages of one turn of the event loop together, in their order. A message of its own wakes the other thread,
 * which costs both more than what is in it; requests that come together and answers that one disk write confirms need one.
 */
export const openOutbox = <Message>(
  post: (messages: readonly Message[], moved: readonly ArrayBuffer[]) => void,
): Outbox<Message> => {
  let waiting: Message[] = [];
  /** Memory moves once, though messages may share it. */
  let moving = new Set<ArrayBuffer>();
  const flush = (): void => {
    if (waiting.length === 0) return;
    const [messages, moved] = [waiting, moving];
    waiting = [];
    if (moved.size > 0) moving = new Set();
    post(messages, [...moved]);
  };
  return {
    put: (message, moved = []) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push(message);
      for (const memory of moved) moving.add(memory);
    },
    flush,
  };
};
