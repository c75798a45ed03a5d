import { useI18n } from 'vue-i18n'
import { ApiError, fieldName, isTooLarge } from './problems'
import type { FieldError } from './types'
import { formatSizes } from '@/shared/lib/format'

/** What a code of the server stands for, in the page's language; where it has no words of its own, the server's. */
export function useCodeText(): (code: string | null, detail: string) => string {
  const { t, te } = useI18n()
  return (code, detail) => (code && te(`problem.${code}`) ? t(`problem.${code}`, { detail }) : detail)
}

/** What went wrong in words for the person; with the file that was refused, where it is about one. */
export function useProblemText(): (error: unknown, file?: Pick<File, 'size'>) => string {
  const { t, te } = useI18n()
  const codeText = useCodeText()

  function wait(seconds: number): string {
    return seconds < 90 ? t('time.seconds', { count: seconds }) : t('time.minutes', { count: Math.ceil(seconds / 60) })
  }
  function tooLarge(size: number, limitBytes: number | null): string {
    const [own, most] = formatSizes(size, limitBytes ?? 0)
    return limitBytes === null
      ? t('problem.fileTooLarge', { size: own })
      : t('problem.fileOverLimit', { size: own, most })
  }
  /** A whole sentence says by itself what it is about. */
  const told = (error: FieldError): string =>
    error.message.endsWith('.') ? error.message : `${fieldName(error)}: ${error.message}`
  return (error, file) => {
    if (!(error instanceof ApiError)) return t('problem.unknown')
    if (file && isTooLarge(error)) return tooLarge(file.size, error.limitBytes)
    if (error.code === 'limit' && error.retryAfterS !== null)
      return t('problem.limitIn', { time: wait(error.retryAfterS) })
    const [only, ...others] = error.errors
    // Of some faults and fields the page knows by itself what to say.
    const own = only && others.length === 0 ? [only.code, `${error.code}_${fieldName(only)}`] : []
    const known = own.map((code) => `problem.${code}`).find((key) => te(key))
    if (known) return t(known)
    const fields = error.errors.map(told).join('; ')
    return codeText(error.code, fields || error.detail) || t('problem.status', { status: error.status })
  }
}
