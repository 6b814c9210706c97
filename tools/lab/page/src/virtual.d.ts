declare module 'virtual:sources' {
  export type Token = readonly [text: string, look: number];
  const sources: { readonly files: Readonly<Record<string, readonly (readonly Token[])[]>> };
  export default sources;
}
declare module 'virtual:sources.css';
declare module '*.css';
