let load: () => Promise<unknown> = () => Promise.resolve()

/** Says how the texts are loaded that what comes after the first paint needs. */
export function setLaterTexts(loader: () => Promise<unknown>): void {
  load = loader
}

/** Ends once these texts are there. Rejects where they did not come; the next call asks for them again. */
export const laterTexts = (): Promise<unknown> => load()
