import { watch } from 'vue'
import { useI18n } from 'vue-i18n'
import { setLanguage } from '@/i18n'
import { face, type Face } from '@/shared/lib/face'
import { themeChoice, type ThemeChoice } from '@/shared/lib/theme'
import { enterMeans, meaningOf } from './enterMeaning'
import { useUserSettings } from './userSettings'

/** Theme, language, face and what Enter means follow the person into every browser: what was chosen in another one is taken over when the page
 * begins, and what is chosen here is told to the server. Without it the choice holds in this browser alone. */
export function useAppearance(): void {
  const settings = useUserSettings()
  const { locale } = useI18n()
  const own = (name: string): unknown => {
    const found = settings.find(name)
    return found?.source === 'user' ? found.value : null
  }
  const keep = (name: string, value: string): void => {
    if (settings.isLoaded && own(name) !== value) settings.change(name, value).catch(() => undefined)
  }
  watch(themeChoice, (theme) => keep('appearance/theme', theme))
  watch(face, (shown) => keep('appearance/face', shown))
  watch(enterMeans, (means) => keep('appearance/enter', means))
  watch(locale, (language) => keep('appearance/language', language))
  settings
    .load()
    .then(() => {
      const names = ['theme', 'language', 'face', 'enter']
      const [theme, language, shown, enter] = names.map((name) => own(`appearance/${name}`))
      if (enter) enterMeans.value = meaningOf(enter)
      if (shown) face.value = shown as Face
      if (theme) themeChoice.value = theme as ThemeChoice
      if (typeof language === 'string') setLanguage(language)
    })
    .catch(() => undefined)
}
