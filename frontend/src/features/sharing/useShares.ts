import { call, callRaw } from '@/api/client'
import { i18n } from '@/i18n'
import type { MadeShare, Share, ShareList, SharePart } from '@/api/types'

export interface WantedShare {
  readonly mode: 'snapshot' | 'live'
  readonly include: readonly SharePart[]
  /** Days it holds; null: until it is revoked. */
  readonly days: number | null
  readonly passphrase: string
}
const DAY_MS = 86_400_000

export async function readShares(sessionId: string | null, signal: AbortSignal): Promise<Share[]> {
  const path = sessionId === null ? '/shares' : `/sessions/${encodeURIComponent(sessionId)}/shares`
  return (await call<ShareList>('GET', path, { signal })).items
}

/** The new link with its whole address, which is told this once. */
export async function makeShare(sessionId: string, wanted: WantedShare): Promise<MadeShare> {
  const made = await call<MadeShare>('POST', `/sessions/${encodeURIComponent(sessionId)}/shares`, {
    body: {
      mode: wanted.mode,
      include: wanted.include,
      expires_at: wanted.days === null ? null : new Date(Date.now() + wanted.days * DAY_MS).toISOString(),
      passphrase: wanted.passphrase || null,
    },
  })
  return { ...made, url: new URL(made.url, location.origin).href }
}

export async function revokeShare(id: string): Promise<void> {
  await call('DELETE', `/shares/${encodeURIComponent(id)}`)
}

export type ExportFormat = 'md' | 'pdf' | 'json' | 'zip'

/** Saves the conversation as a file. */
export async function exportSession(
  sessionId: string,
  format: ExportFormat,
  include: readonly SharePart[],
): Promise<void> {
  const answer = await callRaw('GET', `/sessions/${encodeURIComponent(sessionId)}/export`, {
    query: {
      ...{ format, language: i18n.global.locale.value },
      ...{ tools: String(include.includes('tools')), thinking: String(include.includes('thinking')) },
    },
  })
  const named = /filename\*=UTF-8''([^;]+)/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1]
  saveAs(await answer.blob(), named ? decodeURIComponent(named) : `conversation.${format}`)
}

export function saveAs(content: Blob, name: string): void {
  const anchor = document.createElement('a')
  anchor.href = URL.createObjectURL(content)
  anchor.download = name
  anchor.click()
  setTimeout(() => URL.revokeObjectURL(anchor.href), 60_000)
}
