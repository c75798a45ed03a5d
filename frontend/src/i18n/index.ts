import { createI18n } from 'vue-i18n'
import { recall, remember } from '@/shared/lib/storage'
import en from './en'
import zh from './zh'

export type Language = 'en' | 'zh'
const KEY = 'language'
const kept = recall(KEY)
const preferred = typeof navigator !== 'undefined' && navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
const first: Language = kept === 'en' || kept === 'zh' ? kept : preferred

/** Of something that is over within minutes. */
const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const
const short = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const

export const i18n = createI18n({
  legacy: false,
  locale: first,
  fallbackLocale: 'en',
  messages: { en, zh },
  datetimeFormats: { en: { short, clock }, zh: { short, clock } },
})

export function setLanguage(language: string): void {
  const wanted: Language = language === 'zh' ? 'zh' : 'en'
  i18n.global.locale.value = wanted
  remember(KEY, wanted)
  document.documentElement.lang = wanted === 'zh' ? 'zh-Hans' : 'en'
}
if (typeof document !== 'undefined') document.documentElement.lang = first === 'zh' ? 'zh-Hans' : 'en'
