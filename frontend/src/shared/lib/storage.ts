/** Storage that may be full or forbidden: what can't be kept is simply not remembered. */
function write(storage: () => Storage, key: string, value: string | null): void {
  try {
    if (value === null) storage().removeItem(key)
    else storage().setItem(key, value)
  } catch {
    return
  }
}
function read(storage: () => Storage, key: string): string | null {
  try {
    return storage().getItem(key)
  } catch {
    return null
  }
}
const shared = (): Storage => localStorage
const ofTab = (): Storage => sessionStorage

export const remember = (key: string, value: string | null): void => write(shared, key, value)
export const recall = (key: string): string | null => read(shared, key)
/** The same for this tab alone, over its reloads. */
export const rememberInTab = (key: string, value: string | null): void => write(ofTab, key, value)
export const recallInTab = (key: string): string | null => read(ofTab, key)

export function recallJson<T>(key: string, isValid: (value: unknown) => value is T, otherwise: T, from = recall): T {
  try {
    const value: unknown = JSON.parse(from(key) ?? 'null')
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

function namesIn(storage: () => Storage, ...beginnings: string[]): string[] {
  try {
    return Object.keys(storage()).filter((name) => beginnings.some((beginning) => name.startsWith(beginning)))
  } catch {
    return []
  }
}

export const namesBeginning = (...beginnings: string[]): string[] => namesIn(shared, ...beginnings)

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
  for (const name of namesIn(ofTab, DRAFT)) rememberInTab(name, null)
}
