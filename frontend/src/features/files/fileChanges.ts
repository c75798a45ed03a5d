import { call } from '@/api/client'

/** What is to be done with a path of the workspace, which a person names. */
export type PathWish =
  | { readonly kind: 'file' | 'folder'; readonly folder: string }
  | { readonly kind: 'move' | 'delete'; readonly path: string; readonly isFolder: boolean }

export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))
const inFolder = (folder: string, name: string): string => (folder ? `${folder}/${name}` : name)

/** The path that stands in the field first. */
export function proposedPath(wish: PathWish): string {
  return 'path' in wish ? wish.path : inFolder(wish.folder, '')
}

/** What is wrong with a path that was typed. */
export function pathFault(path: string): 'empty' | 'outside' | 'hidden' | null {
  const parts = path
    .trim()
    .split('/')
    .filter((part) => part !== '' && part !== '.')
  if (parts.length === 0 || path.trim().endsWith('/')) return 'empty'
  if (parts.includes('..') || path.includes('\0')) return 'outside'
  return ['.agent', '.transcripts', '.tasks', '.team'].includes(parts[0] ?? '') ? 'hidden' : null
}

/** Does it; where what was made or moved is now. */
export async function fulfil(sessionId: string, wish: PathWish, path: string): Promise<string> {
  const wanted = path.trim()
  const at = `/sessions/${sessionId}/files`
  type Changed = { path: string }
  switch (wish.kind) {
    case 'file':
      return (await call<Changed>('PUT', `${at}/text`, { body: { path: wanted, content: '', if_match: null } })).path
    case 'folder':
      return (await call<Changed>('POST', `${at}/folder`, { body: { path: wanted } })).path
    case 'move':
      return (await call<Changed>('POST', `${at}/move`, { body: { source: wish.path, destination: wanted } })).path
    case 'delete':
      return (await call<Changed>('DELETE', at, { query: { path: wish.path } })).path
  }
}

/** Files of a folder that a browser was given, by the folder of the workspace that each belongs in. */
export function byFolder(files: readonly File[], folder: string): Map<string, File[]> {
  const found = new Map<string, File[]>()
  for (const file of files) {
    const below = parentOf(file.webkitRelativePath)
    const subdir = below ? inFolder(folder, below) : folder
    found.set(subdir, [...(found.get(subdir) ?? []), file])
  }
  return found
}
