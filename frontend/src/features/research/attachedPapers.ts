import { inject, provide, shallowReactive, type InjectionKey } from 'vue'

const key: InjectionKey<() => string | null> = Symbol('conversation of attached papers')
const PDF = /\.pdf$/i

export const isPdf = (name: string): boolean => PDF.test(name)

/** Whoever shows a conversation says which: the papers of its files are named beside them. */
export function offerAttachedPapers(sessionId: () => string | null): void {
  provide(key, sessionId)
}

export function useAttachedTo(): () => string | null {
  return inject(key, () => null)
}

/** Conversations with papers: records that are linked to them, or files that are papers. */
const withPapers = shallowReactive(new Set<string>())
export const notePapers = (sessionId: string): void => void withPapers.add(sessionId)
export const hasPapers = (sessionId: string | null): boolean => sessionId !== null && withPapers.has(sessionId)

/** Asks, once, which papers a conversation has; where that fails there are none for now. */
export function recallPapers(sessionId: string): void {
  void import('./matchedFiles').then(({ recall }) => recall(sessionId)).catch(() => undefined)
}

/** Looks whose paper a file is that was attached to a conversation, where it is a PDF. Nothing waits for it, and it says nothing where it fails. */
export function matchAttached(sessionId: string, path: string, file: File): void {
  if (!isPdf(path)) return
  void import('./matchedFiles').then(({ match }) => match(sessionId, path, file)).catch(() => undefined)
}
