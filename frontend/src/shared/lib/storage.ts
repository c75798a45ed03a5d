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
/** What waits to be sent is kept for each account, and sent by no other one. */
export const outboxOf = (account: string): string => `outbox:${account}:`
/** Texts of sections, and of suggestions for them, that this account has not saved. */
export const textsOf = (account: string): string => `writing:${account}:`
export const stopsOf = (account: string): string => `stop:${account}:`

export function namesBeginning(...beginnings: string[]): string[] {
  try {
    return Object.keys(localStorage).filter((name) => beginnings.some((beginning) => name.startsWith(beginning)))
  } catch {
    return []
  }
}

const isList = (value: unknown): value is unknown[] => Array.isArray(value)

/** How many messages of this account wait in this browser to be sent. */
export function countUnsentMessages(account: string): number {
  return namesBeginning(outboxOf(account)).reduce((sum, name) => sum + recallJson(name, isList, []).length, 0)
}

/** How many texts that this account wrote by hand in projects wait in this browser to be saved. */
export const countUnsavedTexts = (account: string): number => namesBeginning(textsOf(account)).length

/** For whoever uses this browser next, when this account logs out. One that is cut off finds what waits once it is back. */
export function forgetUnsentWords(account: string): void {
  for (const name of namesBeginning(DRAFT, BEGUN_ANSWER, outboxOf(account), textsOf(account), stopsOf(account)))
    remember(name, null)
}
