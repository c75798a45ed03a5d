/** Sentences one after another: Chinese ones stand without a space between them. */
export const sentences = (locale: string, parts: readonly string[]): string =>
  parts.filter(Boolean).join(locale.startsWith('zh') ? '' : ' ')

/** Titles in their quotes, as a sentence names them. */
export const quoted = (locale: string, titles: readonly string[]): string =>
  new Intl.ListFormat(locale, { type: 'conjunction' }).format(titles.map((title) => `“${title}”`))
