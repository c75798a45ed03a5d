import { addTexts } from '@/i18n'
import zh from '@/i18n/zh'

/** Specs show both languages, and wait for neither. */
addTexts('zh', zh)
