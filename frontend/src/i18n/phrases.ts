/** A tool's own words for each state of a call of it, with arguments as slots. */
export type ToolPhrases = Record<string, Record<'asking' | 'running' | 'succeeded' | 'failed' | 'cut', string>>
