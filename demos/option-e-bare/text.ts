export const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });
