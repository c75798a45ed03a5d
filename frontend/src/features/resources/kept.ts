import type { KeptResource, WireEvent } from '@/api/types'

const KINDS = ['paper', 'page', 'file', 'data', 'note'] as const
export const kinds: readonly KeptResource['kind'][] = KINDS

/** What is kept with a conversation, of all that belongs to it: ports are shown elsewhere, and other kinds are of a newer server. */
export function keptOf(resources: readonly { kind?: string | undefined }[]): KeptResource[] {
  return resources.filter((one): one is KeptResource => KINDS.some((kind) => kind === one.kind))
}

export function withKept(kept: readonly KeptResource[], event: WireEvent): readonly KeptResource[] {
  return event.type === 'resources.updated' ? keptOf(event.resources) : kept
}

/** Where it leads to, null where that is nothing that a browser may open. */
export function addressOf({ kind, link }: Pick<KeptResource, 'kind' | 'link'>): string | null {
  return kind !== 'file' && /^https?:\/\//i.test(link) ? link : null
}
