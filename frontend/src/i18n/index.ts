import { createI18n } from 'vue-i18n'
import { setLaterTexts } from '@/shared/lib/laterTexts'
import { recall, remember } from '@/shared/lib/storage'
import en from './en'
import type { Texts } from './texts'

export type Language = 'en' | 'zh'
/** Each by its own name. */
export const languages = [
  { value: 'en', label: 'English' },
  { value: 'zh', label: '中文' },
] as const
const KEY = 'language'
const kept = recall(KEY)
const preferred = typeof navigator !== 'undefined' && navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
const first: Language = kept === 'en' || kept === 'zh' ? kept : preferred

/** Of something that is over within minutes. */
const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const
const short = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const

export const i18n = createI18n({
  legacy: false,
  locale: 'en' as Language,
  fallbackLocale: 'en',
  messages: { en: en as Texts, zh: {} as Texts },
  datetimeFormats: { en: { short, clock }, zh: { short, clock } },
})

/** Only the texts of the language that is shown are loaded; English comes with the page. */
const loaded: Record<Language, boolean> = { en: true, zh: false }

export function addTexts(language: Language, texts: Texts): void {
  i18n.global.setLocaleMessage(language, texts)
  loaded[language] = true
}

let wanted = first
/** Shows that language, as soon as its texts are there; where they can't be had, the one before stays. */
export function setLanguage(language: string): Promise<void> {
  wanted = language === 'zh' ? 'zh' : 'en'
  remember(KEY, wanted)
  return show(wanted)
}

/** The language of this browser. */
export const startLanguage = (): Promise<void> => show(first)

function show(language: Language): Promise<void> {
  if (loaded[language]) {
    i18n.global.locale.value = language
    if (typeof document !== 'undefined') document.documentElement.lang = language === 'zh' ? 'zh-Hans' : 'en'
    return Promise.resolve()
  }
  return import('./zh').then(
    ({ default: zh }) => {
      addTexts('zh', zh)
      if (wanted === language) void show(language)
    },
    () => undefined,
  )
}

let later: Promise<void> | null = null
/** The English texts of what is not shown at first, which another language falls back to; asked for again where they did not come. */
function loadLater(): Promise<void> {
  later ??= import('./enLater').then(
    ({ default: texts }) => i18n.global.mergeLocaleMessage('en', texts),
    (error: unknown) => {
      later = null
      throw error
    },
  )
  return later
}
setLaterTexts(loadLater)
