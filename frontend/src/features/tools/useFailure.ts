import { useI18n } from 'vue-i18n'
import { plainOutput } from '@/shared/lib/ansi'
import { showInvisible } from '@/shared/lib/invisibleCharacters'
import type { ToolCard } from './body/card'

const LONGEST = 160
/** How tools begin what they say went wrong: that it did is said already. */
const SIGNAL = /^(?:tool )?(?:error|failed)\s*:\s*/i
/** What a shell's output ends with, which is said by itself. */
const EXIT = /^\[exit code -?\d+\]$/

/** Why a call failed, in a line; empty for one that did not. */
export function useFailure(): (card: ToolCard) => string {
  const { t } = useI18n()
  return (card) => {
    if (card.outcome !== 'failed') return ''
    const code = card.display?.type === 'shell' ? card.display.exit_code : null
    const lines = plainOutput(card.preview)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line && (code === null || !EXIT.test(line)))
    // A program says last what ended it, a tool says it first.
    const said = showInvisible((code === null ? lines[0] : lines.at(-1)) ?? '').replace(SIGNAL, '')
    const exit = code === null ? '' : t('tool.exitCode', { code })
    const reason = [exit, said].filter(Boolean).join(' · ') || t('tool.noReason')
    return reason.length > LONGEST ? `${reason.slice(0, LONGEST - 1)}…` : reason
  }
}
