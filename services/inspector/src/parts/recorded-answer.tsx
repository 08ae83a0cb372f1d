import type { ComponentChildren } from 'preact';
import { readAnswer } from './read-tool-call.ts';
import { SafeText } from './safe-text.tsx';
import { ToolCall } from './tool-call.tsx';

/** The recorded message of a model: what it thought, what it said, and the tools that it called. */
export const RecordedAnswer = ({ answer }: { readonly answer: unknown }): ComponentChildren => {
  const { texts, thoughts, calls } = readAnswer(answer);
  return (
    <>
      {thoughts.map((text, i) => (
        <div key={`thought-${i}`} class="decided-text is-thought">
          <SafeText text={text} />
        </div>
      ))}
      {texts.map((text, i) => (
        <div key={`text-${i}`} class="decided-text">
          <SafeText text={text} />
        </div>
      ))}
      {calls.map((call, i) => (
        <ToolCall key={i} call={call} />
      ))}
    </>
  );
};
