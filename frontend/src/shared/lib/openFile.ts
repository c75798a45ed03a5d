import { inject, provide, type InjectionKey } from 'vue'

/** `address` is that of the link as it was written: in a document of the workspace it is meant from where that lies. */
type OpenFile = (path: string, address?: string) => void
const key: InjectionKey<OpenFile> = Symbol('open file')

/** Whoever holds the files panel offers to show a file in it; others ask without knowing the panel. */
export function offerOpenFile(open: OpenFile): void {
  provide(key, open)
}

export function useOpenFile(): OpenFile | null {
  return inject(key, null)
}
