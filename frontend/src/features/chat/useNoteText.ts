import { useI18n } from 'vue-i18n'
import { useCodeText } from '@/api/useProblemText'
import { HANDED_BACK } from './handedBack'
import { HANDED_OVER } from './reducer'
import type { NoteItem } from './transcript'

/** Parameters that are times, in ISO 8601. */
const TIMES: ReadonlySet<string> = new Set(['from', 'to'])

/** The number that a note counts by. */
const countIn = (params: NoteItem['params']): number =>
  Object.values(params).find((value): value is number => typeof value === 'number') ?? 1

/** What a note says: in the page's language where it knows what it is about, else in the server's words. */
export function useNoteText(): (note: NoteItem) => string {
  const { t, te, n, d } = useI18n()
  const codeText = useCodeText()
  function said(name: string, value: string | number): string {
    if (typeof value === 'number') return n(value)
    return TIMES.has(name) ? d(new Date(value), 'short') : value
  }
  return ({ code, params, tone, text }) => {
    if (code === HANDED_OVER) return t('chat.handedOver')
    if (code === HANDED_BACK) return t('chat.handedBack', { note: text })
    if (tone === 'error') return codeText(code, text)
    if (!code || !te(`notice.${code}`)) return text
    const shown = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, said(name, value)]))
    // Why an MCP server can't be used has a code of its own.
    if (shown['cause']) shown['reason'] = codeText(`mcp_${shown['cause']}`, shown['reason'] ?? '')
    return t(`notice.${code}`, shown, countIn(params))
  }
}
