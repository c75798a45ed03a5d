import { afterAll } from 'vitest'
import { addTexts, i18n } from '@/i18n'
import later from '@/i18n/enLater'
import zh from '@/i18n/zh'

/** Specs show both languages, and wait for neither. */
addTexts('zh', zh)
i18n.global.mergeLocaleMessage('en', later)

/** Specs share a process: what one of them defines on the navigator is gone for the next. */
const own = typeof navigator === 'undefined' ? [] : Object.getOwnPropertyNames(navigator)
afterAll(() => {
  if (typeof navigator === 'undefined') return
  for (const name of Object.getOwnPropertyNames(navigator))
    if (!own.includes(name)) Reflect.deleteProperty(navigator, name)
})
