import { useI18n } from 'vue-i18n'
import type { ToolInfo } from '@/api/types'

/** What a tool does, in the page's language; null for one the page does not know, which has but its own description. */
export function useToolAbout(): (tool: Pick<ToolInfo, 'name'>) => string | null {
  const { t, te } = useI18n()
  return ({ name }) => {
    const key = `phrase.${name}.about`
    return /^\w+$/.test(name) && te(key, 'en') ? t(key) : null
  }
}
