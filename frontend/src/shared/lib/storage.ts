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
