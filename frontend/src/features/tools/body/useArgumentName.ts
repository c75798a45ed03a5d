import { useI18n } from 'vue-i18n'
import { enArguments } from '@/i18n/enArguments'

/** What an argument of a call is, in the page's language; of one the page does not know, its name. */
export function useArgumentName(): (name: string) => string {
  const { t } = useI18n()
  return (name) => (Object.hasOwn(enArguments, name) ? t(`argument.${name}`) : name)
}
