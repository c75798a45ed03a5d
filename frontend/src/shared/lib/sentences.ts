/** Sentences one after another: Chinese ones stand without a space between them. */
export const sentences = (locale: string, parts: readonly string[]): string =>
  parts.filter(Boolean).join(locale.startsWith('zh') ? '' : ' ')
