import { addTexts, i18n } from '@/i18n'
import later from '@/i18n/enLater'
import zh from '@/i18n/zh'

/** Specs show both languages, and wait for neither. */
addTexts('zh', zh)
i18n.global.mergeLocaleMessage('en', later)
