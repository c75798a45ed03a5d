/** What a tool does, `about`, and its own words for each state of a call of it, with arguments as slots. */
export type ToolPhrases = Record<
  string,
  Record<'about' | 'asking' | 'running' | 'succeeded' | 'failed' | 'cut', string>
>
