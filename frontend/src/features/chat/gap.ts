import type { Row } from './fold'

/** Calls of one turn stand close together; a new thought gets air. */
export function gapBetween(before: Row | undefined, item: Row | undefined): string {
  if (!before) return ''
  if (item?.kind === 'agents' && before.kind === 'work') return 'mt-1'
  if (item?.kind === 'tool' && (before.kind === 'tool' || before.kind === 'work')) return 'mt-2'
  return item?.kind === 'user' ? 'mt-10' : 'mt-4'
}
