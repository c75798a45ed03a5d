/** Local storage that may be full or forbidden: what can't be kept is simply not remembered. */
export function remember(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
  } catch {
    return
  }
}

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

export function recallJson<T>(key: string, isValid: (value: unknown) => value is T, otherwise: T): T {
  try {
    const value: unknown = JSON.parse(recall(key) ?? 'null')
    return isValid(value) ? value : otherwise
  } catch {
    return otherwise
  }
}

/** Beginnings of the names under which a person's unsent words are kept. */
export const DRAFT = 'draft:'
export const BEGUN_ANSWER = 'answer:'

/** For whoever uses this browser next. Messages that wait to be sent stay: they go once their writer is back. */
export function forgetUnsentWords(): void {
  try {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(DRAFT) || name.startsWith(BEGUN_ANSWER))
    for (const name of names) localStorage.removeItem(name)
  } catch {
    return
  }
}
