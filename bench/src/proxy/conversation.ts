type Message = { readonly role: string; readonly content: string };
const SYSTEM: Message = {
  role: 'system',
  content: 'You answer what you are asked, and nothing else. '.repeat(20),
};
const ANSWER: Message = {
  role: 'assistant',
  content: 'The weather is what it was, and so is the rest of what you asked for. '.repeat(26),
};

/** The requests of one conversation; no two begin alike. */
export const conversation = (name: string, turns: number): string[] => {
  const messages = [SYSTEM, { role: 'user', content: `${name}: what is the weather?` }];
  return Array.from({ length: turns }, (_, turn) => {
    if (turn > 0) messages.push(ANSWER, { role: 'user', content: `And on day ${turn}?` });
    return JSON.stringify({ model: 'gpt-4o', messages });
  });
};
