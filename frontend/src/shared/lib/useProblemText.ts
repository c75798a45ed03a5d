import { useI18n } from 'vue-i18n'
import { ApiError } from '@/api/problems'

/** What went wrong in words for the person: our own for codes we know, else the server's detail. */
export function useProblemText(): (error: unknown) => string {
  const { t, te } = useI18n()
  return (error) => {
    if (!(error instanceof ApiError)) return t('problem.unknown')
    if (te(`problem.${error.code}`)) return t(`problem.${error.code}`)
    const fields = error.errors.map((field) => `${field.field.split('.').at(-1) ?? ''}: ${field.message}`).join('; ')
    return fields || error.detail || t('problem.status', { status: error.status })
  }
}
