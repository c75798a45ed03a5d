import { inject, provide, type InjectionKey } from 'vue'

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

/** Looks whose paper a file is that was attached to a conversation, where it is a PDF. Nothing waits for it, and it says nothing where it fails. */
export function matchAttached(sessionId: string, path: string, file: File): void {
  if (!isPdf(path)) return
  void import('./matchedFiles').then(({ match }) => match(sessionId, path, file)).catch(() => undefined)
}
