/**
 * Marks a promise's rejection as handled, and returns the promise. A handler may start two questions and await them one
 * by one. If the user declines both, it never awaits the second, and that unhandled rejection must not end the process.
 */
export function handleRejection<T>(answer: Promise<T>): Promise<T> {
  // Not `answer.catch`, which an `AnswerPromise` takes for a reader.
  Promise.prototype.then.call(answer, undefined, () => {});
  return answer;
}
